package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/flashfs"
	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/protocol"
)

func newFS(a *app) *cobra.Command {
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
	return group(cmd)
}

// files asks for something about a path and prints the answer.
func (a *app) files(cmd *cobra.Command, req protocol.FS, show func(*protocol.FSAnswer) error) error {
	answer, err := once[*protocol.FSAnswer](cmd.Context(), a, protocol.TypeFS, &req)
	if err != nil {
		return err
	}
	if a.json {
		return a.printAnswer(answer)
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

func newFSList(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "ls [:PATH]", Short: "list a folder, or tell of a file", Example: "  pal fs ls :/lib", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(c *client.Client) error {
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
				if a.json {
					return a.printAnswer(answer)
				}
				var rows [][]string
				for _, e := range answer.Entries {
					rows = append(rows, []string{strconv.FormatInt(e.Size, 10), clock(e.TimeMS), or(e.Rights, "-"), entryName(e)})
				}
				return a.printTable("SIZE CHANGED RIGHTS NAME", rows)
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

func newFSTree(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "tree [:FOLDER]", Short: "list a folder with all that is in it", Example: "  pal fs tree", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			top := pathOf(args)
			return a.files(cmd, protocol.FS{Op: "ls", Path: top, Deep: true}, func(answer *protocol.FSAnswer) error {
				var out strings.Builder
				fmt.Fprintf(&out, ":%s\n", top)
				for _, e := range answer.Entries {
					depth := strings.Count(strings.TrimPrefix(e.Path, strings.TrimSuffix(top, "/")), "/")
					fmt.Fprintf(&out, "%s%s\n", strings.Repeat("  ", depth), entryName(e))
				}
				_, err := fmt.Fprint(a.stdout, out.String())
				return err
			})
		},
	}
}

func newFSFree(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "df", Short: "how much room there is", Example: "  pal fs df", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.files(cmd, protocol.FS{Op: "df"}, func(answer *protocol.FSAnswer) error {
				_, err := fmt.Fprintf(a.stdout, "%d of %d bytes are free\n", answer.Free, answer.Total)
				return err
			})
		},
	}
}

func newFSCat(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "cat :FILE...", Short: "print files, byte for byte", Example: "  pal fs cat :main.py", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(c *client.Client) error {
				for _, word := range args {
					data, err := c.GetFile(cmd.Context(), flashfs.Path(word))
					if err != nil {
						return err
					}
					if a.json {
						err = a.printJSON(map[string]any{"path": flashfs.Path(word), "size": len(data), "sha256": flashfs.Hash(data), "data_b64": data})
					} else {
						_, err = a.stdout.Write(data)
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
func newFSEach(a *app, op, short, done string, deepFlag bool) *cobra.Command {
	deep := false
	cmd := &cobra.Command{
		Use: op + " :PATH...", Short: short, Example: "  pal fs " + op + " :/old", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(c *client.Client) error {
				for _, word := range args {
					answer, err := c.FS(cmd.Context(), protocol.FS{Op: op, Path: flashfs.Path(word), Deep: deep})
					if err != nil {
						return err
					}
					if err := a.done(answer, "%s :%s", done, flashfs.Path(word)); err != nil {
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

func newFSMove(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "mv :FROM :TO", Short: "rename a file or folder, or move it into a folder", Example: "  pal fs mv :main.py :old.py", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(c *client.Client) error {
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
				return a.done(answer, ":%s is :%s", req.Path, req.To)
			})
		},
	}
}

func newFSCopy(a *app) *cobra.Command {
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
			return a.with(cmd.Context(), func(c *client.Client) error {
				store := flashfs.New(c)
				steps, err := store.Plan(cmd.Context(), from, flashfs.Parse(args[len(from)]), deep)
				if err != nil {
					return local(err)
				}
				return a.copyAll(cmd.Context(), store, steps, force)
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
		return usage(err)
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
func (a *app) copyAll(ctx context.Context, store *flashfs.Store, steps []flashfs.Step, force bool) error {
	total := 0
	for _, s := range steps {
		total += int(s.Size)
	}
	done, sum := show.NewProgress(a.stderr, total, "bytes copied"), 0
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
		if a.json {
			err = a.printJSON(copied{s.From.String(), s.To.String(), s.Size, !changed})
		} else {
			_, err = fmt.Fprintf(a.stdout, "%s -> %s%s\n", show.Name(s.From.String()), show.Name(s.To.String()), note)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
