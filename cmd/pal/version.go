package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
)

// version is set by the linker in releases; otherwise the build information of the toolchain says what this is.
var version string

// productVersion returns the version of this program.
func productVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

type versions struct {
	Pal      string `json:"pal"`
	Protocol string `json:"protocol"`
	Engine   string `json:"engine"` // empty when the program was built without it
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "versions of pal, its protocol and its engine",
		Example: "  pal version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := versions{
				Pal: productVersion(), Protocol: protocol.Version, Engine: engineVersion(),
				Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
			}
			if a.JSON {
				return a.PrintJSON(v)
			}
			engine := v.Engine
			if engine == "" {
				engine = "no engine: run `make build`"
			}
			_, err := fmt.Fprintf(a.Stdout, "pal %s, protocol %s, %s, %s %s\n", v.Pal, v.Protocol, engine, v.Go, v.Platform)
			return err
		},
	}
}
