using System.Globalization;
using ActOp.Management.Snapshots;
using ActOp.Tool.Connection;
using Orleans.Runtime;

namespace ActOp.Tool.Commands;

/// <summary>The commands that look and change nothing.</summary>
/// <remarks>Holds nothing.</remarks>
internal static class Looks
{
    /// <summary>More silos than these are not columns of a table.</summary>
    private const int MostColumns = 8;

    internal static async Task<Answer> StatusAsync(ClusterConnection cluster)
    {
        var report = await cluster.Operators.Target.GetReport().ConfigureAwait(false);
        var names = NamesOf(cluster);
        string[] troubles =
        [
            .. report.Silent.Select(pair => NameOf(names, pair.Key) + " does not answer: " + pair.Value),
            .. report.Silos.Where(static silo => silo.IsOverloaded).Select(silo => NameOf(names, silo.Silo) + " is overloaded."),
        ];
        var activations = report.Silos.Sum(static silo => silo.Activations);
        var active = report.Silos.Count + report.Silent.Count;
        var value = new
        {
            report.View,
            activeSilos = active,
            silentSilos = report.Silent.Count,
            activations,
            clients = report.Silos.Sum(static silo => silo.Clients),
            isWell = troubles.Length == 0,
            troubles,
        };
        return new Answer(troubles.Length == 0 ? ExitCode.Done : ExitCode.NotWell, value,
        [
            $"{active} active silos (view {report.View}), {Number(activations)} activations, {Number(value.clients)} clients.",
            .. troubles, .. troubles.Length == 0 ? ["All is well."] : Array.Empty<string>(),
        ]);
    }

    internal static async Task<Answer> SilosAsync(ClusterConnection cluster)
    {
        var report = await cluster.Operators.Target.GetReport().ConfigureAwait(false);
        var names = NamesOf(cluster);
        var silos = report.Silos.OrderBy(silo => NameOf(names, silo.Silo), StringComparer.Ordinal).Select(silo => new
        {
            name = NameOf(names, silo.Silo),
            silo = silo.Silo.ToParsableString(),
            cpuPercent = Math.Round(silo.Cpu, 1),
            silo.MemoryBytes,
            silo.MemoryLimitBytes,
            silo.Activations,
            silo.Clients,
            silo.LocalMessages,
            silo.RemoteMessages,
            silo.Moves,
            silo.IsOverloaded,
        }).ToArray();
        var silent = report.Silent.Select(
            pair => new { name = NameOf(names, pair.Key), silo = pair.Key.ToParsableString(), reason = pair.Value });
        var table = new TextTable(
            ["name", "address", ">CPU %", ">memory MB", ">limit MB", ">activations", ">clients", ">moves", "state"],
            [
                .. silos.Select(static silo => (IReadOnlyList<string>)
                    [silo.name, silo.silo, silo.cpuPercent.ToString("F1", CultureInfo.InvariantCulture), Number(silo.MemoryBytes >> 20),
                        Number(silo.MemoryLimitBytes >> 20), Number(silo.Activations), Number(silo.Clients), Number(silo.Moves),
                        silo.IsOverloaded ? "overloaded" : "well"]),
                .. silent.Select(static silo => (IReadOnlyList<string>)[silo.name, silo.silo, "", "", "", "", "", "", silo.reason]),
            ]);
        return new Answer(report.Silent.Count == 0 ? ExitCode.Done : ExitCode.NotWell, new { report.View, silos, silent }, [], table);
    }

    internal static async Task<Answer> GrainsAsync(ClusterConnection cluster)
    {
        var report = await cluster.Operators.Target.GetReport().ConfigureAwait(false);
        var names = NamesOf(cluster);
        SiloSnapshot[] silos = [.. report.Silos.OrderBy(silo => NameOf(names, silo.Silo), StringComparer.Ordinal)];
        var classes = silos.SelectMany(static silo => silo.Classes, static (silo, one) => (silo.Silo, Class: one))
            .GroupBy(static one => one.Class.GrainType, StringComparer.Ordinal)
            .Select(group => new
            {
                grainType = group.Key,
                activations = group.Sum(static one => one.Class.Activations),
                silos = silos.ToDictionary(
                    silo => NameOf(names, silo.Silo),
                    silo => group.Where(one => one.Silo.Equals(silo.Silo)).Sum(static one => one.Class.Activations),
                    StringComparer.Ordinal),
            })
            .Where(static one => one.activations > 0)
            .OrderByDescending(static one => one.activations).ThenBy(static one => one.grainType, StringComparer.Ordinal).ToArray();
        string[] columns = silos.Length <= MostColumns ? [.. silos.Select(silo => NameOf(names, silo.Silo))] : [];
        var table = new TextTable(
            ["class", ">activations", ">most on a silo", .. columns.Select(static name => ">" + name)],
            classes.Select(one => (IReadOnlyList<string>)
            [
                one.grainType, Number(one.activations), Number(one.silos.Values.Max()),
                .. columns.Select(name => Number(one.silos[name])),
            ]));
        return new Answer(report.Silent.Count == 0 ? ExitCode.Done : ExitCode.NotWell, new { report.View, classes },
            [.. report.Silent.Select(pair => NameOf(names, pair.Key) + " does not answer: " + pair.Value)], table);
    }

    internal static Task<Answer> MembersAsync(ClusterConnection cluster)
    {
        var members = cluster.Operators.Members.Select(static member => new
        {
            name = member.Name,
            silo = member.Silo.ToParsableString(),
            status = member.Status,
            gateway = member.Gateway?.ToString(),
            cause = member.Cause,
        }).ToArray();
        var table = new TextTable(["name", "address", "status", "gateway", "why it is dead"], members.Select(static one =>
            (IReadOnlyList<string>)[one.name, one.silo, one.status.ToString(), one.gateway ?? "", one.cause ?? ""]));
        return Task.FromResult(new Answer(ExitCode.Done, new { cluster.Operators.View, members },
            ["View " + cluster.Operators.View + "."], table));
    }

    /// <summary>Everything that silos tell viewers: sums, so that two files give rates.</summary>
    internal static async Task<Answer> ExportAsync(ClusterConnection cluster)
    {
        var report = await cluster.Operators.Target.GetReport().ConfigureAwait(false);
        var names = NamesOf(cluster);
        var silos = report.Silos.OrderBy(silo => NameOf(names, silo.Silo), StringComparer.Ordinal).Select(silo => new
        {
            name = NameOf(names, silo.Silo),
            silo = silo.Silo.ToParsableString(),
            silo.UtcNow,
            atSeconds = silo.At,
            cpuPercent = silo.Cpu,
            silo.MemoryBytes,
            silo.MemoryLimitBytes,
            silo.Activations,
            silo.Clients,
            silo.LocalMessages,
            silo.RemoteMessages,
            silo.Moves,
            silo.IsOverloaded,
            silo.Stages,
            silo.Classes,
            silo.Edges,
        });
        var silent = report.Silent.Select(pair => new { silo = pair.Key.ToParsableString(), reason = pair.Value });
        var members = cluster.Operators.Members.Select(static member => new
        {
            name = member.Name,
            silo = member.Silo.ToParsableString(),
            status = member.Status,
            cause = member.Cause,
        });
        var value = new { format = 1, writtenAt = TimeProvider.System.GetUtcNow(), report.View, members, silos, silent };
        return new Answer(ExitCode.Done, value, [], IsDocument: true);
    }

    internal static string Number(long number) => number.ToString("N0", CultureInfo.InvariantCulture);

    private static Dictionary<SiloAddress, string> NamesOf(ClusterConnection cluster)
    {
        var members = cluster.Operators.Members;
        // Two silos may have one name, although it does not help anybody.
        var twice = members.CountBy(static member => member.Name).Where(static pair => pair.Value > 1)
            .Select(static pair => pair.Key).ToHashSet(StringComparer.Ordinal);
        return members.Where(member => member.Name.Length > 0 && !twice.Contains(member.Name))
            .ToDictionary(static member => member.Silo, static member => member.Name);
    }

    private static string NameOf(Dictionary<SiloAddress, string> names, SiloAddress silo) =>
        names.GetValueOrDefault(silo) ?? silo.Endpoint.ToString();
}
