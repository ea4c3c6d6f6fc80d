package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/protocol"
)

// simVerb is one thing that can be done to the simulated world.
type simVerb struct {
	use, short, example string
	name, value         bool                                                  // takes a device, and a value
	run                 func(a *app, cmd *cobra.Command, args []string) error // what is more than an operation with its arguments
}

var simVerbs = []simVerb{
	{use: "ls", short: "list the simulated devices", example: "  pal sim ls"},
	{use: "show NAME", short: "show one device", example: "  pal sim show LED", name: true},
	{use: "set NAME [KEY=]VALUE", short: "give an input a level, or a sensor what it measures", example: "  pal sim set TEMP_ADC 2048\n  pal sim set AHT20 temperature=-3.5", name: true, value: true},
	{use: "press NAME", short: "press a button and hold it", example: "  pal sim press BUTTON", name: true},
	{use: "release NAME", short: "let a button go", example: "  pal sim release BUTTON", name: true},
	{use: "wave NAME SPEC", short: "let an analogue input follow a wave: sine, ramp, triangle, square or noise; off ends it", example: "  pal sim wave POT_ADC sine:0,4095,2s", name: true, value: true},
	{use: "stuck NAME VALUE", short: "break a line: it stays at 0 or 1 whatever drives it; off ends it", example: "  pal sim stuck LED 0", name: true, value: true},
	{use: "fault NAME KIND", short: "give a device a fault: nack, held, stretch, disconnect, brownout or one of its own; off ends them", example: "  pal sim fault AHT20 crc\n  pal sim fault board clock:1h", name: true, value: true},
	{use: "text NAME", short: "what a display or a light strip shows", example: "  pal sim text SSD1306", name: true, run: simText},
	{use: "image NAME FILE", short: "write what a display or a light strip shows as PNG", example: "  pal sim image SSD1306 oled.png", name: true, value: true, run: simImage},
	{use: "play FILE", short: "start a scenario: steps with times, from a file", example: "  pal sim play rain.yaml", name: true, run: simPlay},
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
		if v.run != nil {
			return v.run(a, cmd, args)
		}
		req := protocol.Sim{Op: cmd.Name()}
		if v.name {
			req.Name = args[0]
		}
		if v.value {
			req.Value = args[1]
		}
		return a.sim(cmd, req)
	}
	return cmd
}

// sim sends an operation and prints what comes of it.
func (a *app) sim(cmd *cobra.Command, req protocol.Sim) error {
	answer, err := once[*protocol.SimAnswer](cmd.Context(), a, protocol.TypeSim, &req)
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

// simPicture asks for a picture.
func (a *app) simPicture(cmd *cobra.Command, op, name string) (text, png string, err error) {
	answer, err := once[*protocol.SimAnswer](cmd.Context(), a, protocol.TypeSim, &protocol.Sim{Op: op, Name: name})
	if err != nil {
		return "", "", err
	}
	var p struct{ Text, PNG string }
	if err := json.Unmarshal(answer.Sim, &p); err != nil {
		return "", "", fmt.Errorf("read the picture: %w", err)
	}
	return p.Text, p.PNG, nil
}

func simText(a *app, cmd *cobra.Command, args []string) error {
	if a.json {
		return a.sim(cmd, protocol.Sim{Op: "text", Name: args[0]})
	}
	text, _, err := a.simPicture(cmd, "text", args[0])
	if err == nil {
		_, err = fmt.Fprint(a.stdout, text)
	}
	return err
}

func simImage(a *app, cmd *cobra.Command, args []string) error {
	_, encoded, err := a.simPicture(cmd, "image", args[0])
	if err != nil {
		return err
	}
	png, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return fmt.Errorf("read the picture: %w", err)
	}
	if err := os.WriteFile(args[1], png, 0o644); err != nil { //nolint:gosec // a picture for everybody
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

func simPlay(a *app, cmd *cobra.Command, args []string) error {
	text, err := os.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("read the scenario: %w", err)
	}
	return a.sim(cmd, protocol.Sim{Op: "scenario", Value: string(text)})
}

// simDevice is what a person is shown of a device in a list. What the state holds is the device's affair.
type simDevice struct {
	Name  string         `json:"name"`
	Type  string         `json:"type"`
	Pin   jsontext.Value `json:"pin"`  // of a device on one line
	Bus   string         `json:"bus"`  // of a device on a bus
	Addr  string         `json:"addr"` // on that
	Level *int           `json:"level"`
	State jsontext.Value `json:"state"`
}

// stateShown is how many characters of a state a list has room for; "pal sim show" tells all of it.
const stateShown = 100

func (a *app) printDevices(devices []simDevice) error {
	rows := make([][]string, 0, len(devices))
	for _, d := range devices {
		state := []rune(strings.Join(strings.Fields(strings.ReplaceAll(strings.TrimSuffix(tree(d.State), "\n"), "\n", ", ")), " "))
		if len(state) > stateShown {
			state = append(state[:stateShown], '…')
		}
		place, level := strings.TrimSpace(d.Bus+" "+d.Addr), "-"
		if len(d.Pin) > 0 {
			place = text(d.Pin)
		}
		if d.Level != nil {
			level = strconv.Itoa(*d.Level)
		}
		rows = append(rows, []string{d.Name, d.Type, or(place, "-"), level, or(string(state), "-")})
	}
	return a.printTable("DEVICE TYPE PLACE LEVEL STATE", rows)
}
