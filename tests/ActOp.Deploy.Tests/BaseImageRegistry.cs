using System.Formats.Tar;
using System.IO.Compression;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace ActOp.Deploy.Tests;

/// <summary>
/// A registry on loopback with one image, "base:1": a folder and nothing else. The SDK reads it as the base of what it builds, so the
/// layout of a container can be made and tried without an engine and without a network.
/// </summary>
internal sealed class BaseImageRegistry : IDisposable
{
    private const string Docker = "application/vnd.docker.";

    private readonly HttpListener _listener = new();
    private readonly Dictionary<string, (string Type, byte[] Content)> _files = [];
    private readonly Task _serving;

    public BaseImageRegistry(int port)
    {
        Address = "localhost:" + port;
        using var tar = new MemoryStream();
        using (var writer = new TarWriter(tar, leaveOpen: true))
            writer.WriteEntry(new PaxTarEntry(TarEntryType.Directory, "tmp/"));
        var content = tar.ToArray();
        using var packed = new MemoryStream();
        using (var gzip = new GZipStream(packed, CompressionMode.Compress, leaveOpen: true))
            gzip.Write(content);
        var layer = Add(Docker + "image.rootfs.diff.tar.gzip", packed.ToArray());
        var settings = Add(Docker + "container.image.v1+json", Json(new
        {
            architecture = "amd64",
            os = "linux",
            config = new { Env = new[] { "PATH=/usr/bin", "APP_UID=1654" }, User = "1654", WorkingDir = "/app" },
            rootfs = new { type = "layers", diff_ids = new[] { DigestOf(content) } },
            history = new[] { new { created_by = "the tests" } },
        }));
        var manifest = Json(new
        {
            schemaVersion = 2,
            mediaType = Docker + "distribution.manifest.v2+json",
            config = new { mediaType = Docker + "container.image.v1+json", size = _files[settings].Content.Length, digest = settings },
            layers = new[]
            {
                new { mediaType = Docker + "image.rootfs.diff.tar.gzip", size = _files[layer].Content.Length, digest = layer },
            },
        });
        _files["1"] = (Docker + "distribution.manifest.v2+json", manifest);
        Add(Docker + "distribution.manifest.v2+json", manifest);
        _listener.Prefixes.Add($"http://{Address}/");
        _listener.Start();
        _serving = ServeAsync();
    }

    /// <summary>Host and port.</summary>
    public string Address { get; }

    public void Dispose()
    {
        _listener.Close();
        _serving.GetAwaiter().GetResult();
    }

    private static byte[] Json(object value) => Encoding.UTF8.GetBytes(JsonSerializer.Serialize(value));

    private static string DigestOf(byte[] content) => "sha256:" + Convert.ToHexStringLower(SHA256.HashData(content));

    private string Add(string type, byte[] content)
    {
        var digest = DigestOf(content);
        _files[digest] = (type, content);
        return digest;
    }

    private async Task ServeAsync()
    {
        while (_listener.IsListening)
        {
            try
            {
                var context = await _listener.GetContextAsync();
                Answer(context.Request, context.Response);
            }
            catch (Exception exception) when (exception is HttpListenerException or ObjectDisposedException)
            {
                // Closed, or the client has gone.
            }
        }
    }

    private void Answer(HttpListenerRequest request, HttpListenerResponse response)
    {
        var name = request.Url!.AbsolutePath.Split('/')[^1];
        if (_files.TryGetValue(name, out var file))
        {
            response.ContentType = file.Type;
            response.AddHeader("Docker-Content-Digest", DigestOf(file.Content));
            response.ContentLength64 = file.Content.Length;
            if (request.HttpMethod != "HEAD")
                response.OutputStream.Write(file.Content);
        }
        else if (request.Url.AbsolutePath != "/v2/")
        {
            response.StatusCode = (int)HttpStatusCode.NotFound;
        }

        response.Close();
    }
}
