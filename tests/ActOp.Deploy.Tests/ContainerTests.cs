using System.Formats.Tar;
using System.IO.Compression;
using System.Net;
using System.Text.Json.Nodes;
using ActOp.Harness.Processes;

namespace ActOp.Deploy.Tests;

/// <summary>The image that "dotnet publish /t:PublishContainer" makes of a silo, unpacked and started without an engine.</summary>
public sealed class ContainerTests : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(5);

    private readonly string _folder = Directory.CreateTempSubdirectory("actop-container").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task The_image_of_a_silo_has_its_layout_and_starts_by_its_entry_point()
    {
        var archive = Path.Combine(_folder, "shop.tar.gz");
        var ports = Ports.FindFree(4);
        using (var registry = new BaseImageRegistry(ports[0]))
            await PublishAsync(archive, registry.Address);
        var settings = Unpack(archive);
        Assert.Equal("1654", (string)settings["User"]!);
        Assert.Equal("/app", ((string)settings["WorkingDir"]!).TrimEnd('/'));
        Assert.True(settings["ExposedPorts"]!.AsObject().Select(static one => one.Key).ToHashSet().SetEquals(
            ["8080/tcp", "8081/tcp", "11111/tcp", "30000/tcp"]));
        string[] command = [.. (settings["Entrypoint"] ?? settings["Cmd"])!.AsArray().Select(static one => (string)one!)];
        Assert.Equal("/app/Shop", command[^1].EndsWith("Shop.dll", StringComparison.Ordinal) ? "/app/Shop" : command[^1]);
        var app = Path.Combine(_folder, "app") + "/";
        string[] unpacked = [.. command.Select(part => part.Replace("/app/", app, StringComparison.Ordinal))];

        await using var silo = await DeployedSilo.StartAsync(unpacked, new Dictionary<string, string>
        {
            ["ASPNETCORE_URLS"] = $"http://127.0.0.1:{ports[1]}",
            ["SiloPort"] = ports[2].ToString(),
            ["GatewayPort"] = ports[3].ToString(),
            ["Data"] = Path.Combine(_folder, "data"),
        });
        using var http = new HttpClient { Timeout = DeployedSilo.Patience };
        Assert.Equal(HttpStatusCode.OK, (await http.GetAsync($"http://127.0.0.1:{ports[1]}/health/ready")).StatusCode);
        Assert.Equal(0, await silo.TerminateAsync());
    }

    private static async Task PublishAsync(string archive, string registry)
    {
        var configuration = new DirectoryInfo(AppContext.BaseDirectory).Parent!.Name;
        var (code, output, errors) = await ProcessRun.ToEndAsync(
            ProcessRun.Dotnet(Repository.Root, ["publish", "samples/Shop", "-c", configuration, "--no-build", "-nologo", "-v", "q",
                "-t:PublishContainer", "-p:ContainerBaseImage=" + registry + "/base:1", "-p:ContainerArchiveOutputPath=" + archive,
                "-p:PublishDir=" + Path.GetDirectoryName(archive) + "/published/"]),
            Patience);
        Assert.True(code == 0, output + errors);
    }

    /// <summary>Puts the layers over each other, as an engine does, and returns what the image says about its process.</summary>
    private JsonNode Unpack(string archive)
    {
        var image = Directory.CreateDirectory(Path.Combine(_folder, "image")).FullName;
        Extract(archive, image);
        var manifest = JsonNode.Parse(File.ReadAllText(Path.Combine(image, "manifest.json")))![0]!;
        Assert.Equal("shop:1.0.0", (string)manifest["RepoTags"]![0]!);
        foreach (var layer in manifest["Layers"]!.AsArray())
            Extract(Path.Combine(image, (string)layer!), _folder);
        return JsonNode.Parse(File.ReadAllText(Path.Combine(image, (string)manifest["Config"]!)))!["config"]!;
    }

    private static void Extract(string path, string folder)
    {
        using var file = File.OpenRead(path);
        var isPacked = file.ReadByte() == 0x1f;
        file.Position = 0;
        using Stream tar = isPacked ? new GZipStream(file, CompressionMode.Decompress) : file;
        using var reader = new TarReader(tar);
        while (reader.GetNextEntry() is { } entry)
        {
            var target = Path.Combine(folder, entry.Name.TrimStart('/', '.').TrimStart('/'));
            Assert.StartsWith(folder, Path.GetFullPath(target), StringComparison.Ordinal);
            if (entry.EntryType == TarEntryType.Directory)
            {
                Directory.CreateDirectory(target);
            }
            else
            {
                Directory.CreateDirectory(Path.GetDirectoryName(target)!);
                entry.ExtractToFile(target, overwrite: true);
            }
        }
    }
}
