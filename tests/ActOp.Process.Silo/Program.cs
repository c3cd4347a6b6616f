using System.Net;
using ActOp.Harness.Processes;
using ActOp.Process.Silo;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

// Or a process that writes states and ends at a step: write-states <directory> <step>.
if (args[0] == "write-states")
{
    StateWriter.Run(args[1], int.Parse(args[2], System.Globalization.CultureInfo.InvariantCulture));
    return;
}

// Or a silo of a test cluster.
if (args[0] == "--standalone-silo")
{
    await Orleans.TestingHost.StandaloneSiloHost.Main(args);
    return;
}

// A silo of a localhost cluster: <silo port> <gateway port> <silo port of the first silo>. It stops in order when standard input ends.
var ended = ParentWatch.Start();
var ports = Array.ConvertAll(args, int.Parse);
var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
builder.Logging.SetMinimumLevel(LogLevel.Information).AddSimpleConsole(console => console.SingleLine = true);
builder.UseOrleans(silo => silo.UseLocalhostClustering(ports[0], ports[1], new IPEndPoint(IPAddress.Loopback, ports[2])));
using var host = builder.Build();
await host.StartAsync();
Console.WriteLine("READY");
await Task.Delay(Timeout.InfiniteTimeSpan, ended).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
await host.StopAsync();
Console.WriteLine("STOPPED");
