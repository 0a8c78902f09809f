// go run pack.go QUERY: the pack's id and its text. `ctl` starts the daemon.
package main
import ("encoding/json"; "fmt"; "log"; "net"; "os"; "os/exec")

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
func main() {
	must(exec.Command("ctl", "--quiet", "daemon", "start").Output())
	var status struct{ Daemon struct{ Socket string } }
	must(0, json.Unmarshal(must(exec.Command("ctl", "status", "--json").Output()), &status))
	socket := must(net.Dial("unix", status.Daemon.Socket))
	budgets := map[string]int{"maxTotalTokens": 4000, "maxBytesPerItem": 16000, "maxItems": 250, "maxItemsPerSection": 80}
	params := map[string]any{"cwd": must(os.Getwd()), "query": os.Args[1], "includeExplain": false, "rendered": true, "defaultBudgets": budgets}
	must(0, json.NewEncoder(socket).Encode(map[string]any{"id": 1, "method": "pack", "params": params}))
	var answer struct { Error any; Result struct { Rendered string; Pack struct{ PackId string } } }
	must(0, json.NewDecoder(socket).Decode(&answer))
	if answer.Error != nil {
		log.Fatal(answer.Error)
	}
	fmt.Printf("%s\n%s", answer.Result.Pack.PackId, answer.Result.Rendered)
}
