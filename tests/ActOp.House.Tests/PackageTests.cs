using System.Diagnostics;
using System.Globalization;
using System.IO.Compression;
using System.Reflection.Metadata;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml.Linq;
using ActOp.Harness.Processes;

namespace ActOp.House.Tests;

/// <summary>What a user gets who references a package and nothing else.</summary>
public partial class PackageTests(PackageFeed feed) : IClassFixture<PackageFeed>
{
    private static readonly string[] WithCode =
        ["ActOp.Abstractions", "ActOp.Dashboard", "ActOp.Foundation", "ActOp.Hosting", "ActOp.Locality", "ActOp.Management", "ActOp.Mesh", "ActOp.Partitioning", "ActOp.PostgreSql",
        "ActOp.Reminders", "ActOp.Runtime", "ActOp.Serialization", "ActOp.Serialization.FSharp", "ActOp.Serialization.Fields",
        "ActOp.Serialization.NewtonsoftJson", "ActOp.Serialization.Protobuf", "ActOp.Serialization.TestKit", "ActOp.Staging", "ActOp.Staging.Tracing",
        "ActOp.Storage", "ActOp.Streams", "ActOp.Testing"];

    private static readonly string[] Ids = [.. WithCode, "ActOp.Client", "ActOp.Server"];

    // The kind of an entry of symbols that says where sources are, by the specification of portable symbols.
    private static readonly Guid SourceLink = new("CC110556-A091-4D38-9FEC-25AB9A351A6A");

    [Fact]
    public void Every_library_is_packed_with_its_symbols()
    {
        string[] expected =
            [.. WithCode.SelectMany(static id => new[] { id + ".nupkg", id + ".snupkg" }), "ActOp.Client.nupkg", "ActOp.Server.nupkg",
                "ActOp.Templates.nupkg", "ActOp.Tool.nupkg"];
        Assert.Equal(expected.Order(StringComparer.Ordinal), feed.Packages);
    }

    [Fact]
    public async Task The_tool_of_operators_is_installed_and_answers()
    {
        await feed.DotnetAsync("tool", "install", "ActOp.Tool", "--tool-path", "tools", "--version", "9.9.9-house", "--add-source",
            feed.FolderOf("feed"));
        ProcessStartInfo start = new(Path.Combine(feed.FolderOf("tools"), "actop"), "--help")
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        // Where the runtime of this test is, is the one for the tool: RUNTIME/shared/Microsoft.NETCore.App/VERSION/.
        start.Environment["DOTNET_ROOT"] = Path.GetFullPath(Path.Combine(RuntimeEnvironment.GetRuntimeDirectory(), "..", "..", ".."));
        var (code, text, _) = await ProcessRun.ToEndAsync(start, TimeSpan.FromMinutes(1));
        Assert.Equal(0, code);
        Assert.Contains("  actop [command] [options]", text, StringComparison.Ordinal);
        Assert.Contains("drain <silo>", text, StringComparison.Ordinal);
    }

    [Fact]
    public void The_script_of_the_tables_is_where_the_document_says()
    {
        using var package = ZipFile.OpenRead(feed.PackagePath("ActOp.PostgreSql"));
        Assert.NotNull(package.GetEntry("schema/actop.sql"));
        Assert.Contains("`schema/actop.sql` in the package", Repository.Text("docs/postgresql.md"), StringComparison.Ordinal);
    }

    [Fact]
    public void A_library_comes_with_its_documentation()
    {
        foreach (var id in WithCode)
        {
            using var package = ZipFile.OpenRead(feed.PackagePath(id));
            Assert.NotNull(package.GetEntry($"lib/net10.0/{id}.xml"));
        }
    }

    [Fact]
    public void A_package_says_what_it_is_where_it_comes_from_and_what_is_new()
    {
        foreach (var id in Ids)
        {
            using var package = ZipFile.OpenRead(feed.PackagePath(id));
            Assert.StartsWith($"# {id}\n", Text(package, "README.md"), StringComparison.Ordinal);
            Assert.NotNull(package.GetEntry("icon.png"));
            var nuspec = Nuspec(package, id);
            foreach (var element in new[] { "description", "releaseNotes", "projectUrl", "license", "readme", "icon", "tags" })
                Assert.False(string.IsNullOrWhiteSpace(Child(nuspec, element)?.Value), $"{id} has no {element}.");
            Assert.Equal("https://github.com/actop/actop", (string?)Child(nuspec, "repository")?.Attribute("url"));
        }
    }

    [Fact]
    public void No_package_but_the_dashboard_needs_the_runtime_of_ASP_NET_Core()
    {
        Assert.Equal(["Microsoft.AspNetCore.App"], Dependencies("ActOp.Dashboard", "frameworkReference", "name").Distinct());
        Assert.DoesNotContain(Ids, id => Dependencies(id, "dependency", "id").Contains("ActOp.Dashboard"));
        var needed = from id in Ids.Except(["ActOp.Dashboard"])
                     from reference in Dependencies(id, "frameworkReference", "name")
                     select $"{id}: {reference}";
        Findings.None(needed);
    }

    /// <summary>
    /// The callbacks of UseTls have a parameter of ConnectionContext: two small assemblies, without the framework of ASP.NET.
    /// </summary>
    private const string ConnectionContext = "Microsoft.AspNetCore.Connections.Abstractions";

    /// <summary>Serializers of stored states take and return BinaryData.</summary>
    private const string BinaryData = "System.Memory.Data";

    [Fact]
    public void Only_packages_for_other_systems_depend_on_others_than_our_own_Microsoft_Extensions_and_types_of_the_contract()
    {
        var foreign = from id in Ids
                      where id is not ("ActOp.Staging.Tracing" or "ActOp.PostgreSql" or "ActOp.Serialization.NewtonsoftJson"
                          or "ActOp.Serialization.Protobuf" or "ActOp.Serialization.TestKit" or "ActOp.Serialization.FSharp")
                      from dependency in Dependencies(id, "dependency", "id")
                      where !Ids.Contains(dependency) && !dependency.StartsWith("Microsoft.Extensions.", StringComparison.Ordinal)
                          && dependency is not (ConnectionContext or BinaryData)
                      select $"{id}: {dependency}";
        Findings.None(foreign);
        Assert.Contains("Microsoft.Diagnostics.Tracing.TraceEvent", Dependencies("ActOp.Staging.Tracing", "dependency", "id"));
        Assert.Contains("Npgsql", Dependencies("ActOp.PostgreSql", "dependency", "id"));
        Assert.DoesNotContain(Ids, id => Dependencies(id, "dependency", "id").Contains("ActOp.PostgreSql"));
        Assert.DoesNotContain(
            Ids.Except(["ActOp.Staging.Tracing"]), id => Dependencies(id, "dependency", "id").Contains("ActOp.Staging.Tracing"));
    }

    [Fact]
    public void Symbols_point_to_the_sources_in_the_repository_and_name_no_path_of_the_machine()
    {
        foreach (var id in WithCode)
        {
            using var package = ZipFile.OpenRead(feed.SymbolsPath(id));
            using MemoryStream copy = new();
            using (var symbols = package.GetEntry($"lib/net10.0/{id}.pdb")!.Open())
                symbols.CopyTo(copy);
            copy.Position = 0;
            using var provider = MetadataReaderProvider.FromPortablePdbStream(copy);
            var reader = provider.GetMetadataReader();
            Assert.All(
                reader.Documents, document =>
                    Assert.StartsWith("/_/", reader.GetString(reader.GetDocument(document).Name), StringComparison.Ordinal));
            var links = from handle in reader.CustomDebugInformation
                        let entry = reader.GetCustomDebugInformation(handle)
                        where reader.GetGuid(entry.Kind) == SourceLink
                        select Encoding.UTF8.GetString(reader.GetBlobBytes(entry.Value));
            // An unpacked archive has no commit to point to.
            if (Repository.Has(".git"))
            {
                Assert.Contains(
                    "\"/_/*\":\"https://raw.githubusercontent.com/actop/actop/", Assert.Single(links), StringComparison.Ordinal);
            }
        }
    }

    [Theory]
    [InlineData("PublishTrimmed")]
    [InlineData("PublishAot")]
    public async Task A_program_that_is_to_be_trimmed_is_warned_at_build(string property)
    {
        var folder = "Trimmed" + property;
        await feed.WriteAsync(folder + "/Trimmed.csproj", Project("""<PackageReference Include="ActOp.Client" Version="9.9.9-house" />"""));
        await feed.WriteAsync(folder + "/Program.cs", "System.Console.WriteLine(1);");
        await feed.DotnetAsync("restore", folder);
        // The packages that trimming itself needs are not asked for: only what the build says.
        Assert.DoesNotContain("ACTOP0900", await feed.DotnetAsync("build", folder, "--no-restore", "-t:Compile"), StringComparison.Ordinal);
        var warned = await feed.DotnetAsync("build", folder, "--no-restore", "-t:Compile", $"-p:{property}=true");
        Assert.Contains("warning ACTOP0900", warned, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_file_of_contracts_is_made_by_the_command_of_the_document_and_compared_at_each_build()
    {
        const string Command = "analyzers --severity info --diagnostics ORLEANS0016 ORLEANS0017 ORLEANS0018 ORLEANS0019 ORLEANS0020 "
            + "ORLEANS0022 ORLEANS0023 ORLEANS0024";
        Assert.Contains("    dotnet format Grains.csproj " + Command + "\n", Repository.Text("docs/analyzers.md"), StringComparison.Ordinal);
        await feed.WriteAsync("Kept/Kept.csproj", Project("""<PackageReference Include="ActOp.Client" Version="9.9.9-house" />""")
            .Replace("<OutputType>Exe</OutputType>", "<EnableOrleansContractsAnalyzer>true</EnableOrleansContractsAnalyzer>",
                StringComparison.Ordinal));
        await feed.WriteAsync("Kept/HelloGrain.cs", Grain);
        await feed.DotnetAsync("restore", "Kept");
        await feed.DotnetAsync(["format", "Kept/Kept.csproj", .. Command.Split(' '), "--no-restore"]);
        Assert.Contains("""

            class [GrainType("hello")] HelloGrain

            interface [GrainInterfaceType("IHelloGrain")] IHelloGrain [Version(0)]
              D10DF882: Greet(string) -> Task<string>

            """.ReplaceLineEndings("\n"), File.ReadAllText(Path.Combine(feed.FolderOf("Kept"), "OrleansContracts.txt")),
            StringComparison.Ordinal);

        await feed.WriteAsync("Kept/HelloGrain.cs", Grain.Replace("Greet(string", "Hail(string", StringComparison.Ordinal));
        var built = await feed.DotnetAsync("build", "Kept", "--no-restore");
        Assert.Contains("warning ORLEANS0018", built, StringComparison.Ordinal);
        Assert.Contains("warning ORLEANS0027", built, StringComparison.Ordinal);
        Assert.Equal(2, built.Split('\n').Where(static line => line.Contains("ORLEANS00", StringComparison.Ordinal)).Distinct().Count());
    }

    [Fact]
    public async Task A_grain_is_written_hosted_and_called_with_the_server_package_alone()
    {
        await feed.WriteAsync("Alone/Alone.csproj", Project("""<PackageReference Include="ActOp.Server" Version="9.9.9-house" />"""));
        await feed.WriteAsync("Alone/HelloGrain.cs", Grain);
        await feed.WriteAsync("Alone/Program.cs", Program);
        Assert.Contains("answer: Hello, stranger!", await feed.RunAsync("Alone", Pair()), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_client_calls_a_grain_with_a_type_of_its_own()
    {
        await feed.WriteAsync("Contract/Contract.csproj", Project("""<PackageReference Include="ActOp.Client" Version="9.9.9-house" />""")
            .Replace("<OutputType>Exe</OutputType>", "", StringComparison.Ordinal));
        await feed.WriteAsync("Contract/IGreeter.cs", Contract);
        await feed.WriteAsync("Called/Called.csproj",
            Project("""<ProjectReference Include="../Contract/Contract.csproj" /><PackageReference Include="ActOp.Server" Version="9.9.9-house" />"""));
        await feed.WriteAsync("Called/Greeter.cs", Greeter);
        await feed.WriteAsync("Called/Program.cs", ClientProgram);
        Assert.Contains(
            "answer: Greeting { Text = Hello, stranger!, Count = 1 }", await feed.RunAsync("Called", Pair()), StringComparison.Ordinal);

        // The plain runtime is enough, and what only some programs need is not there.
        var output = feed.OutputOf("Called");
        Assert.DoesNotContain("AspNetCore", File.ReadAllText(Path.Combine(output, "Called.runtimeconfig.json")), StringComparison.Ordinal);
        Assert.True(File.Exists(Path.Combine(output, "ActOp.Runtime.dll")));
        Assert.False(File.Exists(Path.Combine(output, "MathNet.Numerics.dll")));
        Assert.Empty(Directory.EnumerateFiles(output, "Microsoft.Diagnostics.*"));
    }

    [Fact]
    public async Task Generator_and_usings_reach_a_project_behind_the_one_that_references_the_package()
    {
        await feed.WriteAsync("Grains/Grains.csproj", Project("""<PackageReference Include="ActOp.Server" Version="9.9.9-house" />""")
            .Replace("<OutputType>Exe</OutputType>", "", StringComparison.Ordinal));
        await feed.WriteAsync("Grains/HelloGrain.cs", Grain);
        await feed.WriteAsync("Behind/Behind.csproj", Project("""<ProjectReference Include="../Grains/Grains.csproj" />"""));
        await feed.WriteAsync("Behind/EchoGrain.cs", Grain.Replace("Hello", "Echo", StringComparison.Ordinal));
        await feed.WriteAsync("Behind/Program.cs", Program.Replace("IHelloGrain", "IEchoGrain", StringComparison.Ordinal));
        Assert.Contains("answer: Echo, stranger!", await feed.RunAsync("Behind", Pair()), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Grains_of_projects_that_the_code_of_the_host_never_mentions_are_found()
    {
        var library = Project("""<ProjectReference Include="../Rooms/Rooms.csproj" />""")
            .Replace("<OutputType>Exe</OutputType>", "", StringComparison.Ordinal);
        await feed.WriteAsync("Rooms/Rooms.csproj", Project("""<PackageReference Include="ActOp.Server" Version="9.9.9-house" />""")
            .Replace("<OutputType>Exe</OutputType>", "", StringComparison.Ordinal));
        await feed.WriteAsync("Rooms/IHelloGrain.cs", Grain.Split("\n\n")[0]);
        await feed.WriteAsync("RoomGrains/RoomGrains.csproj", library);
        await feed.WriteAsync("RoomGrains/HelloGrain.cs", Grain.Split("\n\n")[1]);
        // Behind a project that has no grains of its own and does not mention the one that has.
        await feed.WriteAsync("Middle/Middle.csproj", library.Replace("Rooms/Rooms", "RoomGrains/RoomGrains", StringComparison.Ordinal));
        await feed.WriteAsync("Middle/Nothing.cs", "public static class Nothing;");
        await feed.WriteAsync("Unmentioned/Unmentioned.csproj",
            Project("""<ProjectReference Include="../Middle/Middle.csproj" /><ProjectReference Include="../Rooms/Rooms.csproj" />"""));
        await feed.WriteAsync("Unmentioned/Program.cs", Program);
        Assert.Contains("answer: Hello, stranger!", await feed.RunAsync("Unmentioned", Pair()), StringComparison.Ordinal);

        // The same class name in another project: one of the two would never be called.
        await feed.WriteAsync("OtherGrains/OtherGrains.csproj", library);
        await feed.WriteAsync("OtherGrains/HelloGrain.cs", "namespace Other;\n" + Grain.Split("\n\n")[1]);
        await feed.WriteAsync("Twice/Twice.csproj",
            Project("""<ProjectReference Include="../RoomGrains/RoomGrains.csproj" /><ProjectReference Include="../OtherGrains/OtherGrains.csproj" />"""));
        await feed.WriteAsync("Twice/Program.cs",
            Program.Replace("await host.StartAsync();",
                "try { await host.StartAsync(); } catch (OrleansConfigurationException e) { Console.WriteLine(e.Message); return; }",
                StringComparison.Ordinal));
        var refused = await feed.RunAsync("Twice", Pair());
        Assert.Contains("HelloGrain, RoomGrains", refused, StringComparison.Ordinal);
        Assert.Contains("Other.HelloGrain, OtherGrains", refused, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_silo_loads_the_assembly_for_codecs_of_the_application_only_if_that_has_some()
    {
        const string Server = """<PackageReference Include="ActOp.Server" Version="9.9.9-house" />""";
        await feed.WriteAsync("Uncoded/Uncoded.csproj", Project(Server));
        await feed.WriteAsync("Uncoded/Meter.cs", Meter);
        await feed.WriteAsync("Uncoded/Reading.cs", "[GenerateSerializer]\npublic sealed record Reading([property: Id(0)] int Degrees);");
        await feed.WriteAsync("Uncoded/Program.cs", MeterProgram);
        var uncoded = await feed.RunAsync("Uncoded", Pair());
        Assert.Contains("answer: 21", uncoded, StringComparison.Ordinal);
        Assert.Contains("loaded: False", uncoded, StringComparison.Ordinal);
        Assert.True(File.Exists(Path.Combine(feed.OutputOf("Uncoded"), Fields)));

        await feed.WriteAsync("Coded/Coded.csproj", Project(Server));
        await feed.WriteAsync("Coded/Meter.cs", Meter);
        await feed.WriteAsync("Coded/Reading.cs", ReadingCodec);
        await feed.WriteAsync("Coded/Program.cs", MeterProgram);
        var coded = await feed.RunAsync("Coded", Pair());
        Assert.Contains("answer: 1021", coded, StringComparison.Ordinal);
        Assert.Contains("loaded: True", coded, StringComparison.Ordinal);

        File.Delete(Path.Combine(feed.OutputOf("Coded"), Fields));
        var refused = await Assert.ThrowsAsync<InvalidOperationException>(
            () => feed.DotnetAsync([Path.Combine(feed.OutputOf("Coded"), "Coded.dll"), .. Pair()]));
        Assert.Contains(
            "The assembly ActOp.Serialization.Fields cannot be loaded, but Coded has codecs", refused.Message, StringComparison.Ordinal);
    }

    /// <summary>Two ports that nobody listens on, as text.</summary>
    private static string[] Pair() => Array.ConvertAll(Ports.FindFree(2), static port => port.ToString(CultureInfo.InvariantCulture));

    [Theory]
    [InlineData("Files")]
    [InlineData("PostgreSql")]
    public async Task A_new_application_of_the_template_builds_runs_and_calls_a_grain(string storage)
    {
        var (name, hive) = ("Made" + storage, feed.FolderOf("hive" + storage));
        await feed.DotnetAsync("new", "install", feed.PackagePath("ActOp.Templates"), "--debug:custom-hive", hive);
        await feed.DotnetAsync("new", "actop-silo", "-o", name, "--storage", storage, "--no-update-check", "--debug:custom-hive", hive);
        Assert.Contains(
            $"namespace {name};", File.ReadAllText(Path.Combine(feed.FolderOf(name), "CounterGrain.cs")), StringComparison.Ordinal);
        await feed.DotnetAsync("build", name);
        // A database is needed to run that one.
        if (storage == "PostgreSql")
            return;
        await feed.DotnetAsync("test", Path.Combine(name, name + ".Tests"));
        var ports = Ports.FindFree(3);
        var address = "http://localhost:" + ports[0];
        string[] run = ["run", "--no-build", "--urls", address, "--Silo:Port", $"{ports[1]}", "--Silo:Gateway", $"{ports[2]}"];
        using var http = new HttpClient { BaseAddress = new Uri(address), Timeout = TimeSpan.FromMinutes(1) };
        var answers = new List<string>();
        await feed.DotnetUntilAsync(name, "Application started", async () =>
        {
            await http.PostAsync("/counters/tea", null, TestContext.Current.CancellationToken);
            await http.PostAsync("/counters/tea", null, TestContext.Current.CancellationToken);
            answers.Add(await http.GetStringAsync("/counters/tea", TestContext.Current.CancellationToken));
            answers.Add(await http.GetStringAsync("/health/ready", TestContext.Current.CancellationToken));
        }, run);
        // The process was killed; its state is in files.
        await feed.DotnetUntilAsync(
            name, "Application started",
            async () => answers.Add(await http.GetStringAsync("/counters/tea", TestContext.Current.CancellationToken)), run);
        Assert.Equal(["2", "Healthy", "2"], answers);
    }

    [Fact]
    public async Task The_steps_of_the_readme_lead_from_packages_to_a_call_between_two_processes()
    {
        var steps = Repository.Text("README.md").Split("\n## ").Single(
            static part => part.StartsWith("From a package", StringComparison.Ordinal));
        string[][] commands = [.. StepCommand().Matches(steps).Select(static match => match.Groups[1].Value.Split(' '))];
        var ports = Pair();
        Directory.CreateDirectory(feed.FolderOf("Steps"));
        foreach (var command in commands.Where(static command => command[0] != "run"))
        {
            await feed.DotnetInAsync(
                "Steps", [.. command, .. command is ["add", _, "package", ..] ? ["--version", "9.9.9-house"] : Array.Empty<string>()]);
        }

        foreach ((var file, var code) in StepFile().Matches(steps).Select(static match => (match.Groups[1].Value, match.Groups[2].Value)))
        {
            await feed.WriteAsync("Steps/" + file,
                code.Replace("silo.UseLocalhostClustering()", $"silo.UseLocalhostClustering({ports[0]}, {ports[1]})",
                    StringComparison.Ordinal)
                        .Replace("client.UseLocalhostClustering()", $"client.UseLocalhostClustering({ports[1]})",
                            StringComparison.Ordinal));
        }

        string[][] runs = [.. commands.Where(static command => command[0] == "run")];
        Assert.Equal(2, runs.Length);
        var answer = "";
        await feed.DotnetUntilAsync(
            "Steps", "Application started", async () => answer = await feed.DotnetInAsync("Steps", runs[1]), runs[0]);
        Assert.Contains("Hello, stranger! You are number 1.", answer, StringComparison.Ordinal);
    }

    [GeneratedRegex(@"^\$ dotnet (.+)$", RegexOptions.Multiline)]
    private static partial Regex StepCommand();

    [GeneratedRegex(@"`([\w/]+\.cs)`:\n\n```csharp\n(.*?)^```", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex StepFile();

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

    private const string Fields = "ActOp.Serialization.Fields.dll";

    private const string Meter = """
        public interface IMeter : IGrainWithStringKey
        {
            Task<int> Add(Reading reading);
        }

        [GenerateSerializer]
        public sealed class MeterState
        {
            [Id(0)]
            public int Sum { get; set; }
        }

        public sealed class Meter : Grain<MeterState>, IMeter
        {
            public async Task<int> Add(Reading reading)
            {
                State.Sum += reading.Degrees;
                await WriteStateAsync();
                return State.Sum;
            }
        }
        """;

    // What the codec reads is more than what it has written, so the answer tells that it was used.
    private const string ReadingCodec = """
        using System.Buffers;
        using Orleans.Serialization.Buffers;
        using Orleans.Serialization.Codecs;
        using Orleans.Serialization.WireProtocol;

        public sealed record Reading(int Degrees);

        [RegisterSerializer]
        public sealed class ReadingCodec : IFieldCodec<Reading>
        {
            public void WriteField<TBufferWriter>(ref Writer<TBufferWriter> writer, uint fieldIdDelta, Type expectedType, Reading value)
                where TBufferWriter : IBufferWriter<byte>
            {
                if (ReferenceCodec.TryWriteReferenceField(ref writer, fieldIdDelta, expectedType, value))
                    return;
                writer.WriteFieldHeader(fieldIdDelta, expectedType, typeof(Reading), WireType.VarInt);
                writer.WriteVarInt32(value.Degrees);
            }

            public Reading ReadValue<TInput>(ref Reader<TInput> reader, Field field)
            {
                if (field.IsReference)
                    return ReferenceCodec.ReadReference<Reading, TInput>(ref reader, field);
                Reading value = new(1000 + reader.ReadInt32(field.WireType));
                ReferenceCodec.RecordObject(reader.Session, value);
                return value;
            }
        }
        """;

    private const string MeterProgram = """
        using Microsoft.Extensions.DependencyInjection;
        using Microsoft.Extensions.Hosting;
        using Orleans.Runtime;

        HostApplicationBuilder builder = Host.CreateApplicationBuilder();
        builder.UseOrleans(silo => silo.UseLocalhostClustering(int.Parse(args[0]), int.Parse(args[1]))
            .AddMemoryGrainStorageAsDefault()
            .AddMemoryGrainStorage("PubSubStore")
            .AddMemoryStreams("readings")
            .UseInMemoryReminderService());
        using IHost host = builder.Build();
        await host.StartAsync();
        IClusterClient client = host.Services.GetRequiredService<IClusterClient>();
        Console.WriteLine("answer: " + await client.GetGrain<IMeter>("first").Add(new Reading(21)));
        await client.GetStreamProvider("readings").GetStream<Reading>(StreamId.Create("of", "today")).OnNextAsync(new Reading(22));
        await client.GetStreamProvider("readings").GetStream<object>(StreamId.Create("of", "others")).OnNextAsync(new Reading(23));
        await host.StopAsync();
        Console.WriteLine("loaded: " + AppDomain.CurrentDomain.GetAssemblies().Any(
            static assembly => assembly.GetName().Name == "ActOp.Serialization.Fields"));
        """;

    private string[] Dependencies(string id, string element, string attribute)
    {
        using var package = ZipFile.OpenRead(feed.PackagePath(id));
        return [.. Nuspec(package,
            id).Descendants().Where(node => node.Name.LocalName == element).Select(node => (string)node.Attribute(attribute)!)];
    }

    private static XElement Nuspec(ZipArchive package, string id) => XDocument.Parse(Text(package, id + ".nuspec")).Root!;

    private static XElement? Child(XElement nuspec, string name) =>
        nuspec.Descendants().FirstOrDefault(node => node.Name.LocalName == name);

    private static string Text(ZipArchive package, string name)
    {
        using StreamReader reader = new(package.GetEntry(name)!.Open());
        return reader.ReadToEnd();
    }

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
