package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pal-terminal/pal/protocol"
)

// PrintJSON prints a value of our own on one line.
func (a *App) PrintJSON(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	return a.PrintLine(line)
}

// PrintAnswer prints a terminal's answer as it stands in the protocol, on one line.
func (a *App) PrintAnswer(answer protocol.Answer) error {
	line, err := protocol.Encode(answer)
	if err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	return a.PrintLine(line)
}

// PrintLine prints a line that is made already.
func (a *App) PrintLine(line []byte) error {
	_, err := a.Stdout.Write(append(line, '\n'))
	return err
}

// Done prints what was achieved: the answer with --json, else the words.
func (a *App) Done(answer protocol.Answer, format string, args ...any) error {
	if a.JSON {
		return a.PrintAnswer(answer)
	}
	_, err := fmt.Fprintf(a.Stdout, format+"\n", args...)
	return err
}

// PrintTable prints rows under their heads, columns aligned.
func (a *App) PrintTable(head string, rows [][]string) error {
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ReplaceAll(head, " ", "\t"))
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// Count returns a number of things in words.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Or returns text, or what to show where there is none.
func Or(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

// Clock shows a time of the wire, milliseconds since 1970.
func Clock(ms int64) string { return time.UnixMilli(ms).Format("2006-01-02 15:04:05.000") }

// Age shows how long ago a time of the wire was.
func Age(ms int64) string { return time.Since(time.UnixMilli(ms)).Round(time.Second).String() }

// ShellWord quotes a word for a shell where it needs it.
func ShellWord(word string) string {
	if !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Due shows when something is due, a time of the wire; "-" when it is not.
func Due(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return Clock(ms)
}

// Uses reads resources from words such as RELAY_1 and TEMP_ADC:read.
func Uses(words []string) ([]protocol.ResourceUse, error) {
	var uses []protocol.ResourceUse
	for _, word := range words {
		resource, verb, named := strings.Cut(word, ":")
		if resource == "" || named && verb != protocol.VerbRead && verb != protocol.VerbDrive {
			return nil, Usagef("%q is not a resource: give NAME, or NAME:read", word)
		}
		uses = append(uses, protocol.ResourceUse{Resource: resource, Verb: verb})
	}
	return uses, nil
}
