using Hello;
using Microsoft.Extensions.Hosting;

var builder = Host.CreateApplicationBuilder(args);
builder.UseOrleans(silo => silo.UseLocalhostClustering());
await builder.Build().RunAsync();

public sealed class HelloGrain : Grain, IHelloGrain
{
    private int _greeted;

    public Task<string> Greet(string name) => Task.FromResult($"Hello, {name}! You are number {++_greeted}.");
}
