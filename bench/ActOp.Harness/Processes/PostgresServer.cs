using System.Globalization;
using System.Runtime.InteropServices;

namespace ActOp.Harness.Processes;

/// <summary>
/// A PostgreSQL server of its own in a temporary folder, reached by a socket in that folder. It can be killed and started again with the
/// data that it had. It ends with this process, too: a shell waits for the end of its input.
/// </summary>
/// <remarks>Owns the processes and the folder until disposed. One caller at a time. Every wait is bounded by <see cref="Limit"/>.</remarks>
public sealed partial class PostgresServer : IAsyncDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private const int SigQuit = 3;
    private const int SigKill = 9;
    private const int SigContinue = 18;
    private const int SigStop = 19;

    private readonly string _programs;
    private readonly string _folder;
    private readonly string[] _settings;
    private readonly PostgresPlace? _place;
    private ChildProcess? _shell;
    private int _id;

    private PostgresServer(string programs, string folder, PostgresPlace? place, string[] settings)
    {
        _place = place;
        _programs = programs;
        _folder = folder;
        _settings = settings;
    }

    /// <summary>The folder of the server's programs, or null if none is installed.</summary>
    public static string? Programs { get; } = Find();

    /// <summary>For Npgsql.</summary>
    public string ConnectionString => $"Host={_place?.Address ?? _folder};Username=postgres;Database=postgres";

    /// <summary>The folder of the socket: host of the programs of PostgreSQL.</summary>
    public string Host => _folder;

    /// <summary>Makes a server and starts it. <paramref name="settings"/> are of the form name=value.</summary>
    public static Task<PostgresServer> StartAsync(params string[] settings) =>
        StartAsync(Directory.CreateTempSubdirectory("actop-pg-").FullName, null, [], settings);

    /// <summary>The same with a server that is reached by an address, too.</summary>
    public static Task<PostgresServer> StartAtAsync(PostgresPlace place, params string[] settings) =>
        StartAsync(Directory.CreateTempSubdirectory("actop-pg-").FullName, place, [], settings);

    /// <summary>The same in a new folder below <paramref name="place"/>, with more arguments of initdb.</summary>
    public static Task<PostgresServer> StartInAsync(string place, string[] initial, params string[] settings) =>
        StartAsync(Directory.CreateDirectory(Path.Combine(place, "pg")).FullName, null, initial, settings);

    private static async Task<PostgresServer> StartAsync(string folder, PostgresPlace? place, string[] initial, string[] settings)
    {
        var programs = Programs ?? throw new InvalidOperationException("PostgreSQL is not installed: there is no initdb.");
        var server = new PostgresServer(programs, folder, place, settings);
        try
        {
            if (Environment.IsPrivilegedProcess)
                await RunAsync("chown", AsUser[1], folder).ConfigureAwait(false);
            await RunAsync(
                [.. AsUser[2..], Path.Combine(programs, "initdb"), "-D", Path.Combine(folder, "data"), "-U", "postgres", "-A", "trust",
                "-E", "UTF8", "--locale=C", "--no-sync", .. initial]).ConfigureAwait(false);
            if (place is not null)
            {
                await File.AppendAllTextAsync(Path.Combine(folder, "data", "pg_hba.conf"), $"host all all {place.Network} trust\n")
                    .ConfigureAwait(false);
            }

            await server.StartAgainAsync().ConfigureAwait(false);
            return server;
        }
        catch
        {
            await server.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>The path of a program of PostgreSQL.</summary>
    public string Program(string name) => Path.Combine(_programs, name);

    /// <summary>Runs SQL with psql.</summary>
    public Task SqlAsync(string sql) =>
        RunAsync(Program("psql"), "-h", _folder, "-U", "postgres", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql);

    /// <summary>Starts the server after <see cref="KillAsync"/>; completes when it answers.</summary>
    public async Task StartAgainAsync()
    {
        using var limit = new CancellationTokenSource(Limit);
        while (true)
        {
            var said = new Transcript();
            string[] command = [.. _place?.Command ?? [], .. AsUser[2..], .. _place?.Environment ?? [], Program("postgres"), "-D", Path.Combine(_folder, "data"),
                "-k", _folder, "-c", "listen_addresses=" + _place?.Address, "-c", "max_connections=200",
                .. _settings.SelectMany(static setting => new[] { "-c", setting })];
            // The shell ends the server when its input ends, that is with this process at the latest.
            _shell = ChildProcess.StartCommand(
                "postgres", ["sh", "-c", "\"$@\" 2>&1 & echo PID $!; cat >/dev/null; kill -QUIT $! 2>/dev/null; wait $!", "sh", .. command],
                said.Take);
            var id = await said.WaitForAsync(static line => line.StartsWith("PID ", StringComparison.Ordinal)).WaitAsync(limit.Token)
                .ConfigureAwait(false);
            _id = int.Parse(id[4..], CultureInfo.InvariantCulture);
            var outcome = await said.WaitForAsync(static line => line.Contains("ready to accept connections", StringComparison.Ordinal)
                || IsEnd(line)).WaitAsync(limit.Token).ConfigureAwait(false);
            if (!IsEnd(outcome))
                return;
            await _shell.DisposeAsync().ConfigureAwait(false);
            _shell = null;
            // What a killed server leaves is in use until its last process is gone.
            if (limit.IsCancellationRequested || !outcome.Contains("still in use", StringComparison.Ordinal))
                throw new InvalidOperationException("PostgreSQL does not start: " + said.Text);
        }
    }

    /// <summary>Ends all processes of the server without a chance to write anything (SIGKILL).</summary>
    public async Task KillAsync()
    {
        if (_shell is null)
            return;
        // One that the server has just started may not be among them. It would wait for a lock of the others for ever, and keep the pipe.
        using var limit = new CancellationTokenSource(Limit);
        for (var left = Processes(); left.Count > 0; left = Processes())
        {
            left.ForEach(static process => Signal(process, SigKill));
            await Task.Delay(10, limit.Token).ConfigureAwait(false);
        }

        await _shell.DisposeAsync().ConfigureAwait(false);
        _shell = null;
    }

    /// <summary>All processes of the server stand still (SIGSTOP): it accepts connections and answers nothing.</summary>
    public void Pause()
    {
        foreach (var process in Processes())
            Signal(process, SigStop);
    }

    /// <summary>Ends <see cref="Pause"/>.</summary>
    public void Continue()
    {
        foreach (var process in Processes())
            Signal(process, SigContinue);
    }

    /// <summary>Stops the server at once and removes its folder.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_shell is not null)
        {
            Continue();
            Signal(_id, SigQuit);
            await _shell.DisposeAsync().ConfigureAwait(false);
            _shell = null;
        }

        Directory.Delete(_folder, recursive: true);
    }

    /// <summary>The server refuses to run as root: then the user and how to become it; else nothing.</summary>
    private static string[] AsUser { get; } = !Environment.IsPrivilegedProcess ? ["", ""]
        : File.ReadLines("/etc/passwd").Any(static line => line.StartsWith("postgres:", StringComparison.Ordinal))
        ? Become("postgres") : Become("nobody");

    private static string[] Become(string user) =>
        ["", user, "setpriv", "--reuid", user, "--regid", user == "nobody" ? "nogroup" : user, "--clear-groups"];

    private static string? Find()
    {
        var paths = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator);
        var versions = Directory.Exists("/usr/lib/postgresql")
            ? Directory.GetDirectories("/usr/lib/postgresql").OrderByDescending(static folder => folder.Length)
            .ThenByDescending(static folder => folder)
                .Select(static folder => Path.Combine(folder, "bin"))
            : [];
        return versions.Concat(paths)
            .FirstOrDefault(static folder => File.Exists(Path.Combine(folder, "initdb")) && File.Exists(Path.Combine(folder, "postgres")));
    }

    /// <summary>What the server says when it gives up, and not to a client that comes too early.</summary>
    private static bool IsEnd(string line) => line.Contains("FATAL:", StringComparison.Ordinal)
        && !line.Contains("the database system is", StringComparison.Ordinal)
        && !line.Contains("terminating connection", StringComparison.Ordinal);

    /// <summary>
    /// The server and its children, the server first. They work in the folder of its data, and those that outlive it do so, too.
    /// </summary>
    private List<int> Processes()
    {
        var data = Path.Combine(_folder, "data");
        List<int> found = [];
        foreach (var folder in Directory.EnumerateDirectories("/proc"))
        {
            if (!int.TryParse(Path.GetFileName(folder), out var process))
                continue;
            try
            {
                if (new FileInfo(folder + "/cwd").LinkTarget == data)
                    found.Insert(process == _id ? 0 : found.Count, process);
            }
            catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
            {
                // It has just ended, or is somebody else's.
            }
        }

        return found;
    }

    private static async Task RunAsync(params string[] command)
    {
        using var limit = new CancellationTokenSource(Limit);
        var said = new Transcript();
        await using var process = ChildProcess.StartCommand(Path.GetFileName(command[0]), command, said.Take);
        if (await process.WaitForExitAsync(limit.Token).ConfigureAwait(false) is not 0 and var code)
            throw new InvalidOperationException($"{string.Join(' ', command)} ended with {code}: {process.Tail} {said.Text}");
    }

    private static void Signal(int process, int signal) => _ = Kill(process, signal);

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static partial int Kill(int process, int signal);
}

/// <summary>Where a server runs that is reached by an address, too.</summary>
/// <param name="Command">What runs its command, for example in a network namespace.</param>
/// <param name="Environment">The same within that, as the user of the server.</param>
/// <param name="Address">The address at which it listens, at the usual port.</param>
/// <param name="Network">The network from which it accepts connections without a password.</param>
public sealed record PostgresPlace(string[] Command, string[] Environment, string Address, string Network);
