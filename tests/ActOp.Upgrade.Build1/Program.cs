using System.Net;
using ActOp.Harness.Processes;
using ActOp.Upgrade;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

// A silo of a localhost cluster: <silo port> <gateway port> <silo port of the first silo>. It calls grains itself, and stops in order when
// standard input ends. With one argument, a client of the silo with this gateway port, which makes all calls once.
var ended = ParentWatch.Start();
var ports = Array.ConvertAll(args, int.Parse);
var builder = new HostApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
builder.Logging.SetMinimumLevel(LogLevel.Information).AddSimpleConsole(console => console.SingleLine = true);
if (ports.Length == 1)
    builder.UseOrleansClient(client => client.UseLocalhostClustering(ports[0]));
else
    builder.UseOrleans(silo => silo.UseLocalhostClustering(ports[0], ports[1], new IPEndPoint(IPAddress.Loopback, ports[2])));
using var host = builder.Build();
await host.StartAsync();
var grains = host.Services.GetRequiredService<IGrainFactory>();
if (ports.Length == 1)
{
    await Load.SweepAsync(grains);
    Console.WriteLine("SWEPT");
    await host.StopAsync();
    return;
}

Console.WriteLine("READY");
Task<int>[] load = [Load.RunAsync(grains, 1, ended), Load.RunAsync(grains, 2, ended)];
_ = Array.ConvertAll(load, static one => one.ContinueWith(
    static failed => Console.WriteLine("LOAD FAILED " + failed.Exception!.ToString().ReplaceLineEndings(" ")),
    CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default));
await Task.Delay(Timeout.InfiniteTimeSpan, ended).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
// The callers of this build end before the silo does: the last silo of a build has nobody else to serve them.
await ((Task)Task.WhenAll(load)).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
Console.WriteLine("LOAD ENDED after " + load.Sum(static one => one.IsCompletedSuccessfully ? one.Result : 0) + " rounds");
await host.StopAsync();
Console.WriteLine("STOPPED");
