// Package files has the commands about the files of a terminal: fs, edit and mip.
package files

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/flashfs"
	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/protocol"
)

// FS makes `pal fs`.
func FS(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fs",
		Short: "files on the terminal: ls cat cp rm mkdir mv tree df",
		Long: "fs looks at and changes the files of the terminal, which programs see below /flash. Its paths have a colon before them:\n" +
			":main.py, :/main.py and :/flash/main.py are the same file.",
		Example: "  pal fs cp main.py :\n  pal fs cp -r lib :/lib\n  pal fs ls",
	}
	cmd.AddCommand(newFSList(a), newFSTree(a), newFSCat(a), newFSCopy(a), newFSMove(a), newFSFree(a),
		newFSEach(a, "rm", "remove files, with -r folders", "removed", true),
		newFSEach(a, "mkdir", "make folders, and those they are in", "made", false))
	return cli.Group(cmd)
}

// files asks for something about a path and prints the answer.
func files(a *cli.App, cmd *cobra.Command, req protocol.FS, show func(*protocol.FSAnswer) error) error {
	answer, err := cli.Once[*protocol.FSAnswer](cmd.Context(), a, protocol.TypeFS, &req)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintAnswer(answer)
	}
	return show(answer)
}

// pathOf is the first argument as a path of the terminal; without one it is the top.
func pathOf(args []string) string {
	if len(args) == 0 {
		return "/"
	}
	return flashfs.Path(args[0])
}

func newFSList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "ls [:PATH]", Short: "list a folder, or tell of a file", Example: "  pal fs ls :/lib", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				req := protocol.FS{Op: "ls", Path: pathOf(args)}
				folder, err := flashfs.New(c).Folder(cmd.Context(), flashfs.Place{Path: req.Path, Remote: true})
				if err != nil {
					return err
				}
				if !folder {
					req.Op = "stat"
				}
				answer, err := c.FS(cmd.Context(), req)
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintAnswer(answer)
				}
				var rows [][]string
				for _, e := range answer.Entries {
					rows = append(rows, []string{strconv.FormatInt(e.Size, 10), cli.Clock(e.TimeMS), cli.Or(e.Rights, "-"), entryName(e)})
				}
				return a.PrintTable("SIZE CHANGED RIGHTS NAME", rows)
			})
		},
	}
}

func entryName(e protocol.FileEntry) string {
	if e.Folder {
		return show.Name(path.Base(e.Path)) + "/"
	}
	return show.Name(path.Base(e.Path))
}

func newFSTree(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "tree [:FOLDER]", Short: "list a folder with all that is in it", Example: "  pal fs tree", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			top := pathOf(args)
			return files(a, cmd, protocol.FS{Op: "ls", Path: top, Deep: true}, func(answer *protocol.FSAnswer) error {
				var out strings.Builder
				fmt.Fprintf(&out, ":%s\n", top)
				for _, e := range answer.Entries {
					depth := strings.Count(strings.TrimPrefix(e.Path, strings.TrimSuffix(top, "/")), "/")
					fmt.Fprintf(&out, "%s%s\n", strings.Repeat("  ", depth), entryName(e))
				}
				_, err := fmt.Fprint(a.Stdout, out.String())
				return err
			})
		},
	}
}

func newFSFree(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "df", Short: "how much room there is", Example: "  pal fs df", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return files(a, cmd, protocol.FS{Op: "df"}, func(answer *protocol.FSAnswer) error {
				_, err := fmt.Fprintf(a.Stdout, "%d of %d bytes are free\n", answer.Free, answer.Total)
				return err
			})
		},
	}
}

func newFSCat(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "cat :FILE...", Short: "print files, byte for byte", Example: "  pal fs cat :main.py", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				for _, word := range args {
					data, err := c.GetFile(cmd.Context(), flashfs.Path(word))
					if err != nil {
						return err
					}
					if a.JSON {
						err = a.PrintJSON(map[string]any{"path": flashfs.Path(word), "size": len(data), "sha256": flashfs.Hash(data), "data_b64": data})
					} else {
						_, err = a.Stdout.Write(data)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}

// newFSEach makes a command that does one thing to each of its paths.
func newFSEach(a *cli.App, op, short, done string, deepFlag bool) *cobra.Command {
	deep := false
	cmd := &cobra.Command{
		Use: op + " :PATH...", Short: short, Example: "  pal fs " + op + " :/old", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				for _, word := range args {
					answer, err := c.FS(cmd.Context(), protocol.FS{Op: op, Path: flashfs.Path(word), Deep: deep})
					if err != nil {
						return err
					}
					if err := a.Done(answer, "%s :%s", done, flashfs.Path(word)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	if deepFlag {
		cmd.Flags().BoolVarP(&deep, "recursive", "r", false, "folders with all that is in them")
	}
	return cmd
}

func newFSMove(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "mv :FROM :TO", Short: "rename a file or folder, or move it into a folder", Example: "  pal fs mv :main.py :old.py", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.With(cmd.Context(), func(c *client.Client) error {
				req := protocol.FS{Op: "mv", Path: flashfs.Path(args[0]), To: flashfs.Path(args[1])}
				into, err := flashfs.New(c).Folder(cmd.Context(), flashfs.Place{Path: req.To, Remote: true})
				if err != nil {
					return err
				}
				if into || strings.HasSuffix(args[1], "/") {
					req.To = path.Join(req.To, path.Base(req.Path))
				}
				answer, err := c.FS(cmd.Context(), req)
				if err != nil {
					return err
				}
				return a.Done(answer, ":%s is :%s", req.Path, req.To)
			})
		},
	}
}

func newFSCopy(a *cli.App) *cobra.Command {
	var deep, force bool
	cmd := &cobra.Command{
		Use:   "cp FROM... TO",
		Short: "copy files to the terminal, from it, or on it",
		Long: "cp copies files; a path with a colon before it is the terminal's. TO is a folder when it is one already, ends in / or takes\n" +
			"several. Files that are the same at both ends, by SHA-256, are not copied again.",
		Example: "  pal fs cp main.py boot.py :\n  pal fs cp -r lib :/lib\n  pal fs cp :log.csv .",
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			from := make([]flashfs.Place, len(args)-1)
			for i, word := range args[:len(from)] {
				from[i] = flashfs.Parse(word)
			}
			return a.With(cmd.Context(), func(c *client.Client) error {
				store := flashfs.New(c)
				steps, err := store.Plan(cmd.Context(), from, flashfs.Parse(args[len(from)]), deep)
				if err != nil {
					return local(err)
				}
				return copyAll(cmd.Context(), a, store, steps, force)
			})
		},
	}
	cmd.Flags().BoolVarP(&deep, "recursive", "r", false, "folders with all that is in them")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "copy also what is the same already")
	return cmd
}

// local makes a usage error of what is wrong on this computer.
func local(err error) error {
	if _, ok := errors.AsType[*flashfs.LocalError](err); ok {
		return cli.Usage(err)
	}
	return err
}

// copied is what is told of a file that was copied.
type copied struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Size    int64  `json:"size"`
	Skipped bool   `json:"skipped"` // it was there already
}

// copyAll does the steps of a copy and tells of each file.
func copyAll(ctx context.Context, a *cli.App, store *flashfs.Store, steps []flashfs.Step, force bool) error {
	total := 0
	for _, s := range steps {
		total += int(s.Size)
	}
	done, sum := show.NewProgress(a.Stderr, total, "bytes copied"), 0
	defer done.End()
	for _, s := range steps {
		changed, err := store.Do(ctx, s, force)
		if err != nil {
			return local(err)
		}
		sum += int(s.Size)
		done.At(sum)
		if s.Folder {
			continue
		}
		note := ""
		if !changed {
			note = " (is the same already)"
		}
		if a.JSON {
			err = a.PrintJSON(copied{s.From.String(), s.To.String(), s.Size, !changed})
		} else {
			_, err = fmt.Fprintf(a.Stdout, "%s -> %s%s\n", show.Name(s.From.String()), show.Name(s.To.String()), note)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
