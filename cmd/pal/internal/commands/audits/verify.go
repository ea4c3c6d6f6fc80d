package audits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/audit"
	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/store"
)

func newVerify(a *cli.App) *cobra.Command {
	var kept, dir, key string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "look at every byte of the log: hashes, numbers, signatures",
		Long: "verify looks at every byte of the log. With --head, what `pal audit head` printed once and was kept elsewhere, it also finds a\n" +
			"log whose end was cut off or that was set back. With --dir it reads the files of a terminal that does not run; --key is then\n" +
			"the public key to believe. It exits with 1 when an entry is wrong, and names it.",
		Example: "  pal audit verify\n  pal audit verify --head 1042:9f86d0…\n  pal audit verify --dir ~/.local/state/pal/guard",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			head, err := readHead(kept)
			if err != nil {
				return err
			}
			if dir == "" && key != "" {
				return cli.Usagef("--key is for --dir: a running terminal has its own")
			}
			found := &found{}
			if dir != "" {
				err = found.files(cmd.Context(), dir, key, head)
			} else {
				err = found.terminal(cmd.Context(), a, kept)
			}
			if err != nil {
				return err
			}
			return found.print(a)
		},
	}
	cmd.Flags().StringVar(&kept, "head", "", "SIZE:HASH that was kept elsewhere")
	cmd.Flags().StringVar(&dir, "dir", "", "folder guard of a state folder, of a terminal that does not run")
	cmd.Flags().StringVar(&key, "key", "", "public key to believe, with --dir (default: those beside the log)")
	return cmd
}

// readHead reads SIZE:HASH; nil for none.
func readHead(word string) (*audit.Head, error) {
	if word == "" {
		return nil, nil //nolint:nilnil // no head is no error
	}
	size, hash, ok := strings.Cut(word, ":")
	n, err := strconv.ParseUint(size, 10, 64)
	if !ok || err != nil || hash == "" {
		return nil, cli.Usagef("%q is not SIZE:HASH as `pal audit head` prints it", word)
	}
	return &audit.Head{Size: n, Hash: hash}, nil
}

// found is what a verification came to.
type found struct {
	Report *protocol.AuditReport `json:"report"`
	Head   string                `json:"head"`
}

func (f *found) terminal(ctx context.Context, a *cli.App, kept string) error {
	return a.With(ctx, func(c *client.Client) error {
		answer, err := c.Audit(ctx, protocol.Audit{Op: "verify", Head: kept})
		if err != nil {
			return err
		}
		if answer.Report == nil {
			return errors.New("audit: the terminal told nothing of its log")
		}
		f.Report, f.Head = answer.Report, answer.End
		return nil
	})
}

func (f *found) files(ctx context.Context, dir, key string, head *audit.Head) error {
	if _, err := os.Stat(filepath.Join(dir, "audit")); errors.Is(err, fs.ErrNotExist) {
		return cli.Usagef("there is no audit log in %s: give the folder guard of a state folder", dir)
	}
	disk, err := store.Folder(dir)
	if err != nil {
		return err
	}
	r, err := audit.VerifyFiles(ctx, disk, "audit", key, head)
	if err != nil {
		return err
	}
	f.Report = &protocol.AuditReport{Entries: r.Entries, First: r.First, Last: r.Last, Checkpoints: r.Checkpoints, Bad: r.Bad, Problem: r.Problem}
	f.Head = fmt.Sprintf("%d:%s", r.Head.Size, r.Head.Hash)
	return nil
}

// print tells what was found; the error is that of the exit code.
func (f *found) print(a *cli.App) error {
	r := f.Report
	var err error
	if a.JSON {
		err = a.PrintJSON(f)
	} else {
		_, err = fmt.Fprintf(a.Stdout, "%d entries verified, %d to %d, %s\nhead %s\n",
			r.Entries, r.First, r.Last, cli.Count(r.Checkpoints, "checkpoint"), f.Head)
	}
	if err == nil && r.Problem != "" {
		return &cli.FailedError{Message: fmt.Sprintf("the audit log is wrong from entry %d on: %s", r.Bad, r.Problem)}
	}
	return err
}
