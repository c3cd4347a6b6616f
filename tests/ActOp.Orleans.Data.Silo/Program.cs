using System.Globalization;
using ActOp.Orleans.Data.Tests;
using Microsoft.Extensions.Hosting;
using Orleans.Hosting;

// The application of ActOp.Orleans.Data.Tests, compiled for ActOp: a connection string, two ports, and deeds, each answered by a line.
var host = await Deeds.StartAsync(
    args[0], int.Parse(args[1], CultureInfo.InvariantCulture), int.Parse(args[2], CultureInfo.InvariantCulture),
    static silo => silo.UseOrleansJsonGrainStorageSerializer());
foreach (var deed in args[3..])
    Console.WriteLine("= " + await Deeds.DoAsync(host, deed));
await host.StopAsync().WaitAsync(Deeds.Limit);
return 0;
