using System.Globalization;
using Orleans.Runtime;

namespace Orleans;

/// <summary>One silo in the membership table.</summary>
[GenerateSerializer]
public sealed class MembershipEntry : ISpanFormattable
{
    /// <summary>Its address.</summary>
    [Id(0)]
    public SiloAddress SiloAddress { get; set; } = null!;

    /// <summary>Its status.</summary>
    [Id(1)]
    public SiloStatus Status { get; set; }

    /// <summary>Who suspects it, and since when.</summary>
    [Id(2)]
    public List<Tuple<SiloAddress, DateTime>>? SuspectTimes { get; set; }

    /// <summary>The port for clients; 0 for none.</summary>
    [Id(3)]
    public int ProxyPort { get; set; }

    /// <summary>The name of its machine.</summary>
    [Id(4)]
    public string HostName { get; set; } = "";

    /// <summary>Its name.</summary>
    [Id(5)]
    public string SiloName { get; set; } = "";

    /// <summary>Its role, the name without a number.</summary>
    [Id(6)]
    public string? RoleName { get; set; }

    /// <summary>Not used.</summary>
    [Id(7)]
    public int UpdateZone { get; set; }

    /// <summary>Not used.</summary>
    [Id(8)]
    public int FaultZone { get; set; }

    /// <summary>When it started.</summary>
    [Id(9)]
    public DateTime StartTime { get; set; }

    /// <summary>When it last said that it lives.</summary>
    [Id(10)]
    public DateTime IAmAliveTime { get; set; }

    /// <summary>Adds a suspicion.</summary>
    public void AddSuspector(SiloAddress suspectingSilo, DateTime suspectingTime) =>
        (SuspectTimes ??= []).Add(Tuple.Create(suspectingSilo, suspectingTime));

    /// <summary>Adds a suspicion or renews that of the same silo; the oldest goes when there are more than <paramref
    /// name="maxVotes"/>.</summary>
    public void AddOrUpdateSuspector(SiloAddress localSilo, DateTime voteTime, int maxVotes)
    {
        SuspectTimes ??= [];
        SuspectTimes.RemoveAll(vote => vote.Item1.Equals(localSilo));
        while (SuspectTimes.Count >= maxVotes && SuspectTimes.MinBy(static vote => vote.Item2) is { } oldest)
            SuspectTimes.Remove(oldest);
        SuspectTimes.Add(Tuple.Create(localSilo, voteTime));
    }

    /// <inheritdoc/>
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"SiloAddress={SiloAddress} SiloName={SiloName} Status={Status}");

    /// <summary>All values for people.</summary>
    public string ToFullString() => string.Create(CultureInfo.InvariantCulture,
        $"{this} HostName={HostName} ProxyPort={ProxyPort} RoleName={RoleName} StartTime={StartTime:u} "
        + $"IAmAliveTime={IAmAliveTime:u} Suspecters=[{string.Join(", ", SuspectTimes?.Select(static vote => vote.Item1) ?? [])}]");

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        destination.TryWrite(CultureInfo.InvariantCulture, $"{ToString()}", out charsWritten);
}

/// <summary>Tells whether a grain is active on this silo.</summary>
public interface ILocalActivationStatusChecker
{
    /// <summary>Whether this silo has an activation of the grain.</summary>
    bool IsLocallyActivated(GrainId grainId);
}

/// <summary>
/// A membership table of the application. If a silo has one among its services, the silos find each other by it: by compare-and-swap of one
/// row together with the version of the table.
/// </summary>
public interface IMembershipTable
{
    /// <summary>Prepares the table. Called once by each silo before anything else.</summary>
    /// <param name="tryInitTableVersion">Whether to create the version, 0, if the table has none.</param>
    Task InitializeMembershipTable(bool tryInitTableVersion);

    /// <summary>Deletes all rows of a cluster.</summary>
    Task DeleteMembershipTableEntries(string clusterId);

    /// <summary>Deletes the rows of dead silos that have not been alive since a time.</summary>
    Task CleanupDefunctSiloEntries(DateTimeOffset beforeDate);

    /// <summary>The row of one silo, and the version of the table.</summary>
    Task<MembershipTableData> ReadRow(SiloAddress key);

    /// <summary>All rows and the version of the table, as of one moment.</summary>
    Task<MembershipTableData> ReadAll();

    /// <summary>
    /// Adds a row and advances the version. False, and nothing is changed, if there is such a row, or the version has not the etag of
    /// <paramref name="tableVersion"/> any more.
    /// </summary>
    /// <param name="entry">The row.</param>
    /// <param name="tableVersion">The next version, with the etag of the present one.</param>
    Task<bool> InsertRow(MembershipEntry entry, TableVersion tableVersion);

    /// <summary>
    /// Replaces a row and advances the version. False, and nothing is changed, if the row or the version has another etag by now.
    /// </summary>
    /// <param name="entry">The row.</param>
    /// <param name="etag">The etag of the row that is replaced.</param>
    /// <param name="tableVersion">The next version, with the etag of the present one.</param>
    Task<bool> UpdateRow(MembershipEntry entry, string etag, TableVersion tableVersion);

    /// <summary>Writes the <see cref="MembershipEntry.IAmAliveTime"/> of a row. The version stays.</summary>
    Task UpdateIAmAlive(MembershipEntry entry);

    /// <inheritdoc cref="InitializeMembershipTable"/>
    /// <remarks>Silos call the methods with a token. A table that has not its own stops the caller's wait, not the work.</remarks>
    /// <param name="tryInitTableVersion">Whether to create the version, 0, if the table has none.</param>
    /// <param name="cancellationToken">Signalled when nobody waits any more.</param>
    Task InitializeMembershipTableAsync(bool tryInitTableVersion, CancellationToken cancellationToken = default) =>
        InitializeMembershipTable(tryInitTableVersion).WaitAsync(cancellationToken);

    /// <inheritdoc cref="DeleteMembershipTableEntries"/>
    Task DeleteMembershipTableEntriesAsync(string clusterId, CancellationToken cancellationToken = default) =>
        DeleteMembershipTableEntries(clusterId).WaitAsync(cancellationToken);

    /// <inheritdoc cref="CleanupDefunctSiloEntries"/>
    Task CleanupDefunctSiloEntriesAsync(DateTimeOffset beforeDate, CancellationToken cancellationToken = default) =>
        CleanupDefunctSiloEntries(beforeDate).WaitAsync(cancellationToken);

    /// <inheritdoc cref="ReadRow"/>
    Task<MembershipTableData> ReadRowAsync(SiloAddress key, CancellationToken cancellationToken = default) =>
        ReadRow(key).WaitAsync(cancellationToken);

    /// <inheritdoc cref="ReadAll"/>
    Task<MembershipTableData> ReadAllAsync(CancellationToken cancellationToken = default) => ReadAll().WaitAsync(cancellationToken);

    /// <inheritdoc cref="InsertRow"/>
    Task<bool> InsertRowAsync(MembershipEntry entry, TableVersion tableVersion, CancellationToken cancellationToken = default) =>
        InsertRow(entry, tableVersion).WaitAsync(cancellationToken);

    /// <inheritdoc cref="UpdateRow"/>
    Task<bool> UpdateRowAsync(
        MembershipEntry entry, string etag, TableVersion tableVersion, CancellationToken cancellationToken = default) =>
        UpdateRow(entry, etag, tableVersion).WaitAsync(cancellationToken);

    /// <inheritdoc cref="UpdateIAmAlive"/>
    Task UpdateIAmAliveAsync(MembershipEntry entry, CancellationToken cancellationToken = default) =>
        UpdateIAmAlive(entry).WaitAsync(cancellationToken);
}

/// <summary>The version of a membership table.</summary>
[GenerateSerializer, Immutable]
public sealed class TableVersion : ISpanFormattable
{
    /// <summary>A version.</summary>
    /// <param name="version">Its number.</param>
    /// <param name="eTag">The etag in the storage.</param>
    public TableVersion(int version, string eTag) => (Version, VersionEtag) = (version, eTag);

    /// <summary>Its number; each write of a row adds one.</summary>
    [Id(0)]
    public int Version { get; }

    /// <summary>The etag in the storage.</summary>
    [Id(1)]
    public string VersionEtag { get; }

    /// <summary>The version that a writer proposes: the next number, with the etag that the storage must still have.</summary>
    public TableVersion Next() => new(Version + 1, VersionEtag);

    /// <inheritdoc/>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"<{Version}, {VersionEtag}>");

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        destination.TryWrite(CultureInfo.InvariantCulture, $"<{Version}, {VersionEtag}>", out charsWritten);
}

/// <summary>Rows of a membership table with their etags, and its version.</summary>
[GenerateSerializer, Immutable]
public sealed class MembershipTableData
{
    /// <summary>These rows; those of dead silos come last.</summary>
    public MembershipTableData(List<Tuple<MembershipEntry, string>> list, TableVersion version)
    {
        Members = [.. list.OrderBy(static row => row.Item1.Status == SiloStatus.Dead)
            .ThenBy(static row => row.Item1.SiloName, StringComparer.Ordinal)];
        Version = version;
    }

    /// <summary>One row.</summary>
    public MembershipTableData(Tuple<MembershipEntry, string> tuple, TableVersion version) => (Members, Version) = ([tuple], version);

    /// <summary>No row.</summary>
    public MembershipTableData(TableVersion version) => (Members, Version) = ([], version);

    /// <summary>The rows with their etags.</summary>
    [Id(0)]
    public IReadOnlyList<Tuple<MembershipEntry, string>> Members { get; }

    /// <summary>The version of the table.</summary>
    [Id(1)]
    public TableVersion Version { get; }

    /// <summary>The row of a silo, or null.</summary>
    public Tuple<MembershipEntry, string>? TryGet(SiloAddress silo) => Members.FirstOrDefault(row => row.Item1.SiloAddress.Equals(silo));

    /// <summary>The same without the rows of dead silos for which there is a later dead one at the same endpoint.</summary>
    public MembershipTableData WithoutDuplicateDeads()
    {
        var newest = new Dictionary<System.Net.IPEndPoint, int>();
        foreach (var (entry, _) in Members)
        {
            if (entry.Status == SiloStatus.Dead)
            {
                var known = newest.GetValueOrDefault(entry.SiloAddress.Endpoint, int.MinValue);
                newest[entry.SiloAddress.Endpoint] = Math.Max(known, entry.SiloAddress.Generation);
            }
        }

        return new([.. Members.Where(row => row.Item1.Status != SiloStatus.Dead
            || row.Item1.SiloAddress.Generation == newest[row.Item1.SiloAddress.Endpoint])], Version);
    }

    /// <inheritdoc/>
    public override string ToString() => Members.Count + " silos, " + Members.Count(static row => row.Item1.Status == SiloStatus.Dead)
        + " of them dead, at version " + Version + ": " + string.Join("; ", Members.Select(static row => row.Item1));
}
