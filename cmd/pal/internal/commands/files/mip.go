package files

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/flashfs"
	"github.com/pal-terminal/pal/cmd/pal/internal/mip"
	"github.com/pal-terminal/pal/protocol"
)

// Mip makes `pal mip`.
func Mip(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mip", Short: "install MicroPython packages from folders of this computer",
		Example: "  pal mip install ./umqtt.simple",
	}
	cmd.AddCommand(newMipInstall(a))
	return cli.Group(cmd)
}

func newMipInstall(a *cli.App) *cobra.Command {
	var target string
	var force bool
	cmd := &cobra.Command{
		Use:   "install FOLDER...",
		Short: "copy packages, and those that they need, to the terminal",
		Long: "install copies the packages in folders (with a package.json, a manifest.py or just modules) to /flash/lib. What they need is\n" +
			"looked for on the terminal and in the folders beside theirs; nothing is copied when something is found nowhere.",
		Example: "  pal mip install ./umqtt.simple\n  pal mip install ~/micropython-lib/python-stdlib/logging --target lib",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, folders []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				return install(cmd.Context(), a, c, folders, flashfs.Path(target), force)
			})
		},
	}
	cmd.Flags().StringVar(&target, "target", "lib", "folder on the terminal")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "copy also files that are the same already")
	return cmd
}

func install(ctx context.Context, a *cli.App, c *client.Client, folders []string, target string, force bool) error {
	var asked error // what kept the terminal from answering
	packages, err := mip.Resolve(folders, func(need string) (met bool, err error) {
		met, asked = installed(ctx, c, need, target)
		return met, asked
	})
	switch {
	case asked != nil:
		return asked
	case err != nil:
		return cli.Usage(err)
	}
	var steps []flashfs.Step
	for _, p := range packages {
		for _, f := range p.Files {
			to := flashfs.Place{Path: path.Join(target, f.Dest), Remote: true}
			steps = append(steps, flashfs.Put(flashfs.Place{Path: path.Join(p.Name, f.Dest)}, to, f.Data))
		}
	}
	if err := copyAll(ctx, a, flashfs.New(c), steps, force); err != nil || a.JSON {
		return err
	}
	for _, p := range packages {
		if _, err := fmt.Fprintf(a.Stdout, "installed %s\n", strings.TrimSpace(p.Name+" "+p.Version)); err != nil {
			return err
		}
	}
	return nil
}

// installed reports whether the terminal has a module or package of a name in its library.
func installed(ctx context.Context, c *client.Client, name, target string) (bool, error) {
	answer, err := c.FS(ctx, protocol.FS{Op: "ls", Path: target})
	if err != nil {
		if cli.ExitCode(err) == cli.ExitNotFound { // no library yet
			return false, nil
		}
		return false, err
	}
	for _, e := range answer.Entries {
		if base := path.Base(e.Path); base == name && e.Folder || base == name+".py" {
			return true, nil
		}
	}
	return false, nil
}
