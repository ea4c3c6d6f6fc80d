package main

import (
	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/micropython"
)

// engineVersion names the engine of this build, or nothing when there is none.
func engineVersion() string {
	if micropython.Available() != nil {
		return ""
	}
	return "MicroPython " + micropython.EngineVersion
}

// newVM is the process that runs guest code. `pal up` starts it; it is no command for people.
func newVM(a *cli.App) *cobra.Command {
	opts := micropython.Options{FD: 3} // as package vm hands it over
	cmd := &cobra.Command{
		Use:    "vm",
		Short:  "the process that runs guest code; started by `pal up`",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return micropython.Main(cmd.Context(), opts)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.CacheDir, "cache", "", "folder of compiled engines")
	flags.IntVar(&opts.HeapBytes, "heap", 0, "Python heap in bytes")
	flags.StringVar(&opts.Board, "board", "", "board name that programs see")
	flags.StringVar(&opts.Version, "version", "", "product version that programs see")
	return cmd
}
