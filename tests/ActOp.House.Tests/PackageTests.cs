using System.IO.Compression;

namespace ActOp.House.Tests;

/// <summary>What a user gets who references a package and nothing else.</summary>
public class PackageTests(PackageFeed feed) : IClassFixture<PackageFeed>
{
    private static readonly string[] WithCode = ["ActOp.Abstractions", "ActOp.Mesh", "ActOp.Partitioning", "ActOp.Runtime", "ActOp.Serialization", "ActOp.Staging", "ActOp.Staging.Tracing", "ActOp.Testing"];

    [Fact]
    public void Every_library_is_packed_with_its_symbols()
    {
        string[] expected = [.. WithCode.SelectMany(static id => new[] { id + ".nupkg", id + ".snupkg" }), "ActOp.Client.nupkg", "ActOp.Server.nupkg"];
        Assert.Equal(expected.Order(StringComparer.Ordinal), feed.Packages);
    }

    [Fact]
    public void A_library_comes_with_its_documentation_and_the_readme()
    {
        foreach (string id in WithCode)
        {
            using ZipArchive package = ZipFile.OpenRead(feed.PackagePath(id));
            string[] entries = [.. package.Entries.Select(static entry => entry.FullName)];
            Assert.Contains($"lib/net10.0/{id}.xml", entries);
            Assert.Contains("README.md", entries);
        }
    }

    [Fact]
    public async Task A_grain_is_written_hosted_and_called_with_the_server_package_alone()
    {
        await feed.WriteAsync("Alone/Alone.csproj", Project("""<PackageReference Include="ActOp.Server" Version="9.9.9-house" />"""));
        await feed.WriteAsync("Alone/HelloGrain.cs", Grain);
        await feed.WriteAsync("Alone/Program.cs", Program);
        Assert.Contains("answer: Hello, stranger!", await feed.RunAsync("Alone", FreePorts.Pair()), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_client_calls_a_grain_with_a_type_of_its_own()
    {
        await feed.WriteAsync("Contract/Contract.csproj", Project("""<PackageReference Include="ActOp.Client" Version="9.9.9-house" />""").Replace("<OutputType>Exe</OutputType>", "", StringComparison.Ordinal));
        await feed.WriteAsync("Contract/IGreeter.cs", Contract);
        await feed.WriteAsync("Called/Called.csproj", Project("""<ProjectReference Include="../Contract/Contract.csproj" /><PackageReference Include="ActOp.Server" Version="9.9.9-house" />"""));
        await feed.WriteAsync("Called/Greeter.cs", Greeter);
        await feed.WriteAsync("Called/Program.cs", ClientProgram);
        Assert.Contains("answer: Greeting { Text = Hello, stranger!, Count = 1 }", await feed.RunAsync("Called", FreePorts.Pair()), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Generator_and_usings_reach_a_project_behind_the_one_that_references_the_package()
    {
        await feed.WriteAsync("Grains/Grains.csproj", Project("""<PackageReference Include="ActOp.Server" Version="9.9.9-house" />""").Replace("<OutputType>Exe</OutputType>", "", StringComparison.Ordinal));
        await feed.WriteAsync("Grains/HelloGrain.cs", Grain);
        await feed.WriteAsync("Behind/Behind.csproj", Project("""<ProjectReference Include="../Grains/Grains.csproj" />"""));
        await feed.WriteAsync("Behind/EchoGrain.cs", Grain.Replace("Hello", "Echo", StringComparison.Ordinal));
        await feed.WriteAsync("Behind/Program.cs", Program.Replace("IHelloGrain", "IEchoGrain", StringComparison.Ordinal));
        Assert.Contains("answer: Echo, stranger!", await feed.RunAsync("Behind", FreePorts.Pair()), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Grains_of_projects_that_the_code_of_the_host_never_mentions_are_found()
    {
        string library = Project("""<ProjectReference Include="../Rooms/Rooms.csproj" />""").Replace("<OutputType>Exe</OutputType>", "", StringComparison.Ordinal);
        await feed.WriteAsync("Rooms/Rooms.csproj", Project("""<PackageReference Include="ActOp.Server" Version="9.9.9-house" />""").Replace("<OutputType>Exe</OutputType>", "", StringComparison.Ordinal));
        await feed.WriteAsync("Rooms/IHelloGrain.cs", Grain.Split("\n\n")[0]);
        await feed.WriteAsync("RoomGrains/RoomGrains.csproj", library);
        await feed.WriteAsync("RoomGrains/HelloGrain.cs", Grain.Split("\n\n")[1]);
        // Behind a project that has no grains of its own and does not mention the one that has.
        await feed.WriteAsync("Middle/Middle.csproj", library.Replace("Rooms/Rooms", "RoomGrains/RoomGrains", StringComparison.Ordinal));
        await feed.WriteAsync("Middle/Nothing.cs", "public static class Nothing;");
        await feed.WriteAsync("Unmentioned/Unmentioned.csproj", Project("""<ProjectReference Include="../Middle/Middle.csproj" /><ProjectReference Include="../Rooms/Rooms.csproj" />"""));
        await feed.WriteAsync("Unmentioned/Program.cs", Program);
        Assert.Contains("answer: Hello, stranger!", await feed.RunAsync("Unmentioned", FreePorts.Pair()), StringComparison.Ordinal);

        // The same class name in another project: one of the two would never be called.
        await feed.WriteAsync("OtherGrains/OtherGrains.csproj", library);
        await feed.WriteAsync("OtherGrains/HelloGrain.cs", "namespace Other;\n" + Grain.Split("\n\n")[1]);
        await feed.WriteAsync("Twice/Twice.csproj", Project("""<ProjectReference Include="../RoomGrains/RoomGrains.csproj" /><ProjectReference Include="../OtherGrains/OtherGrains.csproj" />"""));
        await feed.WriteAsync("Twice/Program.cs", Program.Replace("await host.StartAsync();", "try { await host.StartAsync(); } catch (OrleansConfigurationException e) { Console.WriteLine(e.Message); return; }", StringComparison.Ordinal));
        string refused = await feed.RunAsync("Twice", FreePorts.Pair());
        Assert.Contains("HelloGrain, RoomGrains", refused, StringComparison.Ordinal);
        Assert.Contains("Other.HelloGrain, OtherGrains", refused, StringComparison.Ordinal);
    }

    private const string Grain = """
        public interface IHelloGrain : IGrainWithStringKey
        {
            Task<string> Greet(string name);
        }

        public sealed class HelloGrain : Grain, IHelloGrain
        {
            public Task<string> Greet(string name) => Task.FromResult($"Hello, {name}!");
        }
        """;

    private const string Program = """
        using Microsoft.Extensions.DependencyInjection;
        using Microsoft.Extensions.Hosting;

        HostApplicationBuilder builder = Host.CreateApplicationBuilder();
        builder.UseOrleans(silo => silo.UseLocalhostClustering(int.Parse(args[0]), int.Parse(args[1])));
        using IHost host = builder.Build();
        await host.StartAsync();
        IHelloGrain grain = host.Services.GetRequiredService<IGrainFactory>().GetGrain<IHelloGrain>("first");
        Console.WriteLine("answer: " + await grain.Greet("stranger"));
        await host.StopAsync();
        """;

    private const string Contract = """
        public interface IGreeter : IGrainWithStringKey
        {
            Task<Greeting> Greet(string name);
        }

        [GenerateSerializer]
        public sealed record Greeting([property: Id(0)] string Text, [property: Id(1)] int Count);
        """;

    private const string Greeter = """
        public sealed class Greeter : Grain, IGreeter
        {
            private int _count;

            public Task<Greeting> Greet(string name) => Task.FromResult(new Greeting($"Hello, {name}!", ++_count));
        }
        """;

    // Silo and client are hosts of their own that meet on the gateway's port only.
    private const string ClientProgram = """
        using Microsoft.Extensions.DependencyInjection;
        using Microsoft.Extensions.Hosting;

        HostApplicationBuilder server = Host.CreateApplicationBuilder();
        server.UseOrleans(silo => silo.UseLocalhostClustering(int.Parse(args[0]), int.Parse(args[1])));
        using IHost silo = server.Build();
        await silo.StartAsync();
        HostApplicationBuilder builder = Host.CreateApplicationBuilder();
        builder.UseOrleansClient(client => client.UseLocalhostClustering(int.Parse(args[1])));
        using IHost host = builder.Build();
        await host.StartAsync();
        IClusterClient cluster = host.Services.GetRequiredService<IClusterClient>();
        Console.WriteLine("answer: " + await cluster.GetGrain<IGreeter>("first").Greet("stranger"));
        await host.StopAsync();
        await silo.StopAsync();
        """;

    private static string Project(string reference) => $"""
        <Project Sdk="Microsoft.NET.Sdk">
          <PropertyGroup>
            <OutputType>Exe</OutputType>
            <TargetFramework>net10.0</TargetFramework>
            <Nullable>enable</Nullable>
            <ImplicitUsings>enable</ImplicitUsings>
          </PropertyGroup>
          <ItemGroup>
            {reference}
          </ItemGroup>
        </Project>
        """;
}
