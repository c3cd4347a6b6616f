using System.CommandLine;
using ActOp.Peers.Blocking;
using Spectre.Console;

// A file or a pipe has no width; tables must not wrap there.
if (Console.IsOutputRedirected)
    AnsiConsole.Profile.Width = 160;

Option<int> runs = new("--runs") { Description = "Runs of each runtime, in turn.", DefaultValueFactory = static _ => 3 };
Option<int> seconds = new("--seconds") { Description = "Seconds of load in a run.", DefaultValueFactory = static _ => 30 };
Option<double> rate = new("--rate") { Description = "Beats per second.", DefaultValueFactory = static _ => 1000 };
Option<int> block = new("--block") { Description = "Milliseconds that a beat keeps its thread.", DefaultValueFactory = static _ => 10 };
Option<int> monitors = new("--monitors") { Description = "Grains.", DefaultValueFactory = static _ => 10_000 };
Option<bool> log = new("--log") { Description = "Show what thread control says." };
Option<int> port = new("--port");
Option<bool> threads = new("--threads");

Command run = new("run", "Beats that block their threads, on Orleans and on Orleans with AddActOpThreads: latency from the intended start.")
{
    runs, seconds, rate, block, monitors, log,
};
run.SetAction((parsed, cancellation) => new BlockingRun(
    new BlockingLoad(parsed.GetValue(rate), parsed.GetValue(seconds), parsed.GetValue(block), parsed.GetValue(monitors)),
    parsed.GetValue(runs), parsed.GetValue(log)).PlayAsync(cancellation));
Command silo = new("silo", "The silo of a run.") { port, threads, log };
silo.Hidden = true;
silo.SetAction((parsed, _) => BlockingSilo.RunAsync(parsed.GetValue(port), parsed.GetValue(threads), parsed.GetValue(log)));
return await new RootCommand("Heartbeats whose turns block, on Microsoft Orleans with and without ActOp.Orleans.") { run, silo }
    .Parse(args).InvokeAsync();
