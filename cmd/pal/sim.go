package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/protocol"
)

// simVerb is one thing that can be done to the simulated world.
type simVerb struct {
	use, short, example string
	name, value         bool // takes a device, and a value
}

var simVerbs = []simVerb{
	{use: "ls", short: "list the simulated devices", example: "  pal sim ls"},
	{use: "show NAME", short: "show one device", example: "  pal sim show LED", name: true},
	{use: "set NAME VALUE", short: "give an input a value", example: "  pal sim set TEMP_ADC 2048", name: true, value: true},
	{use: "press NAME", short: "press a button and hold it", example: "  pal sim press BUTTON", name: true},
	{use: "release NAME", short: "let a button go", example: "  pal sim release BUTTON", name: true},
	{use: "wave NAME SPEC", short: "let an analogue input follow a wave: sine, ramp, triangle, square or noise; off ends it", example: "  pal sim wave POT_ADC sine:0,4095,2s", name: true, value: true},
	{use: "stuck NAME VALUE", short: "break a line: it stays at 0 or 1 whatever drives it; off ends it", example: "  pal sim stuck LED 0", name: true, value: true},
	{use: "reset", short: "the world as it was at the start", example: "  pal sim reset"},
}

func newSim(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sim",
		Short:   "the simulated world: fingers on buttons, volts on inputs",
		Example: "  pal sim ls\n  pal sim set TEMP_ADC 2048\n  pal sim press BUTTON",
	}
	for _, v := range simVerbs {
		cmd.AddCommand(newSimVerb(a, v))
	}
	return group(cmd)
}

func newSimVerb(a *app, v simVerb) *cobra.Command {
	wants := 0
	if v.name {
		wants++
	}
	if v.value {
		wants++
	}
	cmd := &cobra.Command{Use: v.use, Short: v.short, Example: v.example, Args: cobra.ExactArgs(wants)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		req := &protocol.Sim{Op: cmd.Name()}
		if v.name {
			req.Name = args[0]
		}
		if v.value {
			req.Value = args[1]
		}
		answer, err := once[*protocol.SimAnswer](cmd.Context(), a, protocol.TypeSim, req)
		if err != nil {
			return err
		}
		if a.json {
			return a.printLine(answer.Sim)
		}
		var devices []simDevice
		if err := json.Unmarshal(answer.Sim, &devices); err == nil {
			return a.printDevices(devices)
		}
		_, err = fmt.Fprint(a.stdout, tree(answer.Sim))
		return err
	}
	return cmd
}

// simDevice is what a person is shown of a device in a list. What the state holds is the device's affair.
type simDevice struct {
	Name  string         `json:"name"`
	Type  string         `json:"type"`
	Pin   jsontext.Value `json:"pin"`
	Level int            `json:"level"`
	State jsontext.Value `json:"state"`
}

func (a *app) printDevices(devices []simDevice) error {
	rows := make([][]string, 0, len(devices))
	for _, d := range devices {
		state := strings.ReplaceAll(strings.TrimSuffix(tree(d.State), "\n"), "\n", ", ")
		rows = append(rows, []string{d.Name, d.Type, text(d.Pin), strconv.Itoa(d.Level), or(state, "-")})
	}
	return a.printTable("DEVICE TYPE PIN LEVEL STATE", rows)
}
