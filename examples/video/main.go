// Command video draws the film that video.py plays: 5,478 frames of 128 × 64 one-bit pixels, each as the SSD1306 holds it (8
// pages of 128 bytes, bit 0 on top), to standard output or, with -o, to a file.
//
// Every pixel is computed; the film shows a turning cube, ripples and bouncing balls, one after another. Nothing of it is
// anybody's.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
)

// Size of the film.
const (
	width, height = 128, 64
	frames        = 5478
	frameBytes    = width * height / 8
	sceneFrames   = 600
)

func main() {
	out := flag.String("o", "-", "file to write, - for standard output")
	count := flag.Int("frames", frames, "frames to draw")
	flag.Parse()
	if err := run(*out, *count); err != nil {
		fmt.Fprintln(os.Stderr, "video:", err)
		os.Exit(1)
	}
}

func run(name string, count int) error {
	if name == "-" {
		return film(os.Stdout, count)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := film(f, count); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// film writes the first count frames.
func film(w io.Writer, count int) error {
	b := bufio.NewWriter(w)
	for n := range count {
		f := frame(n)
		if _, err := b.Write(f[:]); err != nil {
			return err
		}
	}
	return b.Flush()
}

// picture is one frame as the display holds it.
type picture [frameBytes]byte

func (p *picture) set(x, y int) {
	if x >= 0 && x < width && y >= 0 && y < height {
		p[y/8*width+x] |= 1 << (y % 8)
	}
}

// frame draws frame n, with a bar of the film's progress along the bottom.
func frame(n int) *picture {
	var p picture
	t := float64(n%sceneFrames) / sceneFrames
	switch n / sceneFrames % 3 {
	case 0:
		p.cube(t)
	case 1:
		p.ripples(t)
	case 2:
		p.balls(t)
	}
	for x := range n * width / frames {
		p.set(x, height-1)
	}
	return &p
}

// line draws a straight line by steps of a pixel.
func (p *picture) line(x0, y0, x1, y1 float64) {
	steps := math.Ceil(max(math.Abs(x1-x0), math.Abs(y1-y0), 1))
	for i := range int(steps) + 1 {
		k := float64(i) / steps
		p.set(int(math.Round(x0+k*(x1-x0))), int(math.Round(y0+k*(y1-y0))))
	}
}

// cube draws the edges of a cube that turns about two axes, as seen from a distance of four.
func (p *picture) cube(t float64) {
	a, b := 4*math.Pi*t, 2*math.Pi*t
	var corner [8][2]float64
	for i := range corner {
		x, y, z := float64(i&1*2-1), float64(i>>1&1*2-1), float64(i>>2&1*2-1)
		x, z = x*math.Cos(a)-z*math.Sin(a), x*math.Sin(a)+z*math.Cos(a)
		y, z = y*math.Cos(b)-z*math.Sin(b), y*math.Sin(b)+z*math.Cos(b)
		scale := 64 / (z + 4)
		corner[i] = [2]float64{width/2 + x*scale, height/2 + y*scale}
	}
	for i := range corner {
		for _, axis := range []int{1, 2, 4} {
			if j := i | axis; j != i {
				p.line(corner[i][0], corner[i][1], corner[j][0], corner[j][1])
			}
		}
	}
}

// threshold is an ordered dither of 4 × 4: a grey becomes so many of sixteen pixels.
var threshold = [4][4]float64{{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}}

// ripples draws the waves of two points that move, in grey.
func (p *picture) ripples(t float64) {
	x0, y0 := width/2+40*math.Cos(2*math.Pi*t), height/2+20*math.Sin(4*math.Pi*t)
	x1, y1 := width/2-40*math.Cos(2*math.Pi*t), height/2+20*math.Cos(6*math.Pi*t)
	for y := range height {
		for x := range width {
			fx, fy := float64(x), float64(y)
			grey := math.Sin(math.Hypot(fx-x0, fy-y0)/3-20*t) + math.Sin(math.Hypot(fx-x1, fy-y1)/4+20*t)
			if (grey+2)*4 > threshold[y%4][x%4] {
				p.set(x, y)
			}
		}
	}
}

// balls draws five discs that bounce off the edges, each at its own pace.
func (p *picture) balls(t float64) {
	for i := range 5 {
		r := 4 + 2*i
		x := bounce(t*float64(300+70*i), width-2*r) + r
		y := bounce(t*float64(220+90*i), height-2*r) + r
		for dy := -r; dy <= r; dy++ {
			for dx := -r; dx <= r; dx++ {
				if d := dx*dx + dy*dy; d <= r*r && (i%2 == 0 || d > (r-2)*(r-2)) {
					p.set(x+dx, y+dy)
				}
			}
		}
	}
}

// bounce folds a way into 0 … span, back and forth.
func bounce(way float64, span int) int {
	s := float64(span)
	m := math.Mod(way, 2*s)
	return int(s - math.Abs(m-s))
}
