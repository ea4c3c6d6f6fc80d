package code

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/protocol"
)

// Tool makes `pal tool`.
func Tool(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "tool",
		Short:   "functions that can be called by name: list them, call one",
		Example: "  pal tool ls\n  pal tool call set_led on=true",
	}
	cmd.AddCommand(newToolList(a), newToolCall(a))
	return cli.Group(cmd)
}

func newToolList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "list the tools of board.py and of programs", Example: "  pal tool ls", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer, err := cli.Once[*protocol.Describe](cmd.Context(), a, protocol.TypeDescribe, nil)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]any{"tools": answer.Tools})
			}
			var rows [][]string
			for _, t := range answer.Tools {
				rows = append(rows, []string{t.Name, t.Signature, cli.Or(t.MadeBy, "-"), cli.Or(t.Session, "-"), strings.Split(cli.Or(t.Doc, "-"), "\n")[0]})
			}
			return a.PrintTable("NAME SIGNATURE MADE-BY SESSION ABOUT", rows)
		},
	}
}

func newToolCall(a *cli.App) *cobra.Command {
	var (
		object, session string
		timeout         time.Duration
	)
	cmd := &cobra.Command{
		Use:   "call NAME [KEY=VALUE...]",
		Short: "call a tool and print its value",
		Long: "call calls a tool and prints what it returns as JSON; a text is printed without quotes. A VALUE is JSON when it can be read as\n" +
			"JSON (2, 1.5, true, [1, 2], \"2\") and else a text.",
		Example: "  pal tool call set_led on=true\n  pal tool call water --args '{\"seconds\": 5}'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			values, err := toolArgs(object, args[1:])
			if err != nil {
				return err
			}
			req := protocol.Tool{Tool: args[0], Args: values, Session: session}
			if cmd.Flags().Changed("timeout") {
				ms := timeout.Milliseconds()
				req.TimeoutMS = &ms
			}
			return a.With(cmd.Context(), func(c *client.Client) error {
				result, err := c.Tool(cmd.Context(), req)
				if err != nil {
					return err
				}
				live := show.Live{Stdout: a.Stderr, Stderr: a.Stderr} // standard output is the value's
				return tell(a, result, &live, true, a.Stdout, a.Stderr)
			})
		},
	}
	cmd.Flags().StringVar(&object, "args", "", "arguments as a JSON object")
	cmd.Flags().StringVar(&session, "session", "", "session whose tool it is (default: your own)")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "deadline, such as 500ms (default: the terminal's, 30s)")
	return cmd
}

// toolArgs makes the arguments of a tool from a JSON object and words KEY=VALUE. What JSON does not take twice is not taken twice here.
func toolArgs(object string, words []string) (jsontext.Value, error) {
	args := map[string]jsontext.Value{}
	if object != "" {
		if err := json.Unmarshal([]byte(object), &args); err != nil || args == nil {
			return nil, cli.Usagef("--args %s is not a JSON object", object)
		}
	}
	for _, word := range words {
		key, text, ok := strings.Cut(word, "=")
		if _, twice := args[key]; !ok || key == "" || twice {
			return nil, cli.Usagef("%q is not KEY=VALUE with a KEY of its own", word)
		}
		value := jsontext.Value(text)
		if !value.IsValid() {
			quoted, err := jsontext.AppendQuote(nil, text)
			if err != nil {
				return nil, cli.Usage(errors.New("a VALUE is UTF-8 text"))
			}
			value = quoted
		}
		args[key] = value
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, cli.Usagef("the arguments: %v", err)
	}
	return raw, nil
}
