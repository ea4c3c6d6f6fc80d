package sim

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/png"
	"strings"

	"github.com/pal-terminal/pal/board/sim/device"
)

// Picture is what a display or a strip shows: the answer of Sim's "image" and "text".
type Picture struct {
	Name   string `json:"name"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	PNG    string `json:"png,omitzero"`  // base64
	Text   string `json:"text,omitzero"` // for a terminal: braille for pictures of one colour, else coloured half blocks
}

func (b *Board) picture(op, name, value string) (any, error) {
	t, err := b.find(name)
	if err != nil {
		return nil, err
	}
	if err := noValue(value); err != nil {
		return nil, fmt.Errorf("sim %s %s: %w", op, name, err)
	}
	var m image.Image
	if t.u != nil {
		if p, ok := t.u.dev.(device.Picture); ok {
			m = p.Image()
		}
	}
	if m == nil {
		return nil, fmt.Errorf("sim %s %s: %w", op, name, errors.New("it shows no picture"))
	}
	size := m.Bounds().Size()
	p := Picture{Name: t.u.spec.Name, Width: size.X, Height: size.Y}
	if op == "text" {
		p.Text = text(m)
		return p, nil
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, m); err != nil {
		return nil, fmt.Errorf("sim %s %s: %w", op, name, err)
	}
	p.PNG = base64.StdEncoding.EncodeToString(buf.Bytes())
	return p, nil
}

// text draws a picture in characters.
func text(m image.Image) string {
	if g, ok := m.(*image.Gray); ok {
		return braille(g)
	}
	if p, ok := m.(*image.Paletted); ok && len(p.Palette) == 2 {
		return braille(p)
	}
	return blocks(m)
}

// dots are the bits of a braille character for the 2 by 4 points that it has.
var dots = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// braille draws 2 by 4 pixels with each character. A pixel is lit when it is brighter than half.
func braille(m image.Image) string {
	var sb strings.Builder
	r := m.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y += 4 {
		for x := r.Min.X; x < r.Max.X; x += 2 {
			c := rune(0x2800)
			for dy := range 4 {
				for dx := range 2 {
					if at := image.Pt(x+dx, y+dy); at.In(r) && lit(m, at) {
						c |= dots[dy][dx]
					}
				}
			}
			sb.WriteRune(c)
		}
		sb.WriteByte('\n')
	}
	return sb.String()
}

func lit(m image.Image, p image.Point) bool {
	red, green, blue, _ := m.At(p.X, p.Y).RGBA()
	return red+green+blue > 3*0x7FFF
}

// blocks draws 1 by 2 pixels with each character, in colours (ECMA-48 SGR 38 and 48 with 24 bits).
func blocks(m image.Image) string {
	var sb strings.Builder
	r := m.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y += 2 {
		for x := r.Min.X; x < r.Max.X; x++ {
			red, green, blue, _ := m.At(x, y).RGBA()
			fmt.Fprintf(&sb, "\x1b[38;2;%d;%d;%dm", red>>8, green>>8, blue>>8)
			if y+1 < r.Max.Y {
				red, green, blue, _ = m.At(x, y+1).RGBA()
				fmt.Fprintf(&sb, "\x1b[48;2;%d;%d;%dm", red>>8, green>>8, blue>>8)
			}
			sb.WriteRune('▀')
		}
		sb.WriteString("\x1b[0m\n")
	}
	return sb.String()
}
