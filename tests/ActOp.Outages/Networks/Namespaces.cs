using System.Globalization;
using ActOp.Harness.Processes;

namespace ActOp.Outages.Networks;

/// <summary>
/// Network namespaces with names of this process. What a process left that is gone is removed at the next start: its namespaces, and what
/// still runs in them.
/// </summary>
internal sealed class Namespaces : IAsyncDisposable
{
    private const string Prefix = "actop-outages-";
    private readonly List<string> _names = [];

    /// <summary>Why namespaces cannot be made here; null if they can.</summary>
    internal static async Task<string?> FindObstacleAsync()
    {
        if (!OperatingSystem.IsLinux())
            return "Network namespaces need Linux.";
        if (!Environment.IsPrivilegedProcess)
            return "Network namespaces need root: without it, no run is possible here.";
        if (!File.Exists("/dev/net/tun"))
            return "There is no /dev/net/tun: the kernel needs the module tun.";
        try
        {
            var probe = Prefix + Environment.ProcessId.ToString(CultureInfo.InvariantCulture) + "-probe";
            await IpAsync("netns", "add", probe).ConfigureAwait(false);
            await IpAsync("netns", "del", probe).ConfigureAwait(false);
            return null;
        }
        catch (Exception error) when (error is InvalidOperationException or System.ComponentModel.Win32Exception)
        {
            return "Network namespaces are not permitted here, or ip (package iproute2) is missing: " + error.Message;
        }
    }

    /// <summary>Removes what processes left that are gone; returns the names.</summary>
    internal static async Task<List<string>> RemoveLeftoversAsync()
    {
        var removed = new List<string>();
        foreach (var line in await IpAsync("netns", "list").ConfigureAwait(false))
        {
            var name = line.Split(' ')[0];
            if (!name.StartsWith(Prefix, StringComparison.Ordinal) || File.Exists($"/proc/{name[Prefix.Length..].Split('-')[0]}/stat"))
                continue;
            await RemoveAsync(name).ConfigureAwait(false);
            removed.Add(name);
        }

        return removed;
    }

    /// <summary>Makes a namespace; returns its name.</summary>
    internal async Task<string> AddAsync(string role)
    {
        var name = string.Create(CultureInfo.InvariantCulture, $"{Prefix}{Environment.ProcessId}-{role}");
        await IpAsync("netns", "add", name).ConfigureAwait(false);
        _names.Add(name);
        await IpAsync("-n", name, "link", "set", "lo", "up").ConfigureAwait(false);
        return name;
    }

    /// <summary>The beginning of a command that runs in a namespace.</summary>
    internal static string[] In(string name) => ["ip", "netns", "exec", name];

    /// <summary>Runs ip; returns its lines.</summary>
    internal static async Task<List<string>> IpAsync(params string[] arguments)
    {
        var lines = new List<string>();
        await using var ip = ChildProcess.StartCommand("ip", ["ip", .. arguments], line =>
        {
            lines.Add(line);
            return true;
        });
        if (await ip.WaitForExitAsync(CancellationToken.None).ConfigureAwait(false) is not 0 and var code)
            throw new InvalidOperationException($"ip {string.Join(' ', arguments)} ended with {code}: {ip.Tail}");
        return lines;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var name in _names)
            await RemoveAsync(name).ConfigureAwait(false);
        _names.Clear();
    }

    /// <summary>What stands still in a namespace does not see that its parent is gone.</summary>
    private static async Task RemoveAsync(string name)
    {
        foreach (var process in await IpAsync("netns", "pids", name).ConfigureAwait(false))
        {
            try
            {
                using var left = System.Diagnostics.Process.GetProcessById(int.Parse(process, CultureInfo.InvariantCulture));
                left.Kill();
            }
            catch (ArgumentException)
            {
                // It has ended meanwhile.
            }
        }

        await IpAsync("netns", "del", name).ConfigureAwait(false);
    }
}
