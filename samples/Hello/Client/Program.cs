using Hello;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

var builder = Host.CreateApplicationBuilder(args);
builder.UseOrleansClient(client => client.UseLocalhostClustering());
using var host = builder.Build();
await host.StartAsync();
var cluster = host.Services.GetRequiredService<IClusterClient>();
Console.WriteLine(await cluster.GetGrain<IHelloGrain>("door").Greet(args.Length > 0 ? args[0] : "stranger"));
await host.StopAsync();
