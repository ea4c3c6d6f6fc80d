package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pal-terminal/pal/protocol"
)

// printJSON prints a value of our own on one line.
func (a *app) printJSON(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	return a.printLine(line)
}

// printAnswer prints a terminal's answer as it stands in the protocol, on one line.
func (a *app) printAnswer(answer protocol.Answer) error {
	line, err := protocol.Encode(answer)
	if err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	return a.printLine(line)
}

func (a *app) printLine(line []byte) error {
	_, err := a.stdout.Write(append(line, '\n'))
	return err
}

// done prints what was achieved: the answer with --json, else the words.
func (a *app) done(answer protocol.Answer, format string, args ...any) error {
	if a.json {
		return a.printAnswer(answer)
	}
	_, err := fmt.Fprintf(a.stdout, format+"\n", args...)
	return err
}

// printTable prints rows under their heads, columns aligned.
func (a *app) printTable(head string, rows [][]string) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ReplaceAll(head, " ", "\t"))
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// count returns a number of things in words.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// or returns text, or what to show where there is none.
func or(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

// clock shows a time of the wire, milliseconds since 1970.
func clock(ms int64) string { return time.UnixMilli(ms).Format("2006-01-02 15:04:05.000") }

// age shows how long ago a time of the wire was.
func age(ms int64) string { return time.Since(time.UnixMilli(ms)).Round(time.Second).String() }
