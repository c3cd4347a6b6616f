using ActOp.Foundation;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Cluster;
using ActOp.Wire;
using Microsoft.Extensions.Configuration;
using Orleans;
using Orleans.Concurrency;
using Orleans.Hosting;
using Orleans.Providers;
using Orleans.Runtime;

namespace ActOp.Reminders;

/// <summary>The copies of the table of reminders in memory, as called by the silos.</summary>
internal interface IReminderTableTarget : ISystemTarget
{
    /// <summary>Writes a row, or removes it; null if this silo does not lead.</summary>
    ValueTask<MemoryAnswer?> Write(MemoryRow row);

    /// <summary>Takes a row that the leader has written.</summary>
    ValueTask Copy(MemoryRow row);

    /// <summary>Rows of a part of the ring of hashes, (begin, end]; null if this silo does not lead.</summary>
    ValueTask<MemoryRow[]?> Read(uint begin, uint end);

    /// <summary>Rows of one grain; null if this silo does not lead.</summary>
    ValueTask<MemoryRow[]?> ReadGrain(GrainId grain);

    /// <summary>All rows, for a silo that joins. From then on it gets copies.</summary>
    ValueTask<MemoryRow[]?> Join(SiloAddress silo);

    /// <summary>Removes all rows.</summary>
    [OneWay]
    ValueTask Clear();
}

/// <summary>One row of the table in memory.</summary>
/// <param name="Grain">Whose reminder it is.</param>
/// <param name="Name">Its name.</param>
/// <param name="StartAt">When the first tick is due.</param>
/// <param name="Period">Time between ticks.</param>
/// <param name="Version">Rises with each write of the table; it is the ETag. In a request: the version that must be there, or 0 for
/// any.</param>
/// <param name="IsRemoved">The row was, or is to be, removed.</param>
[GenerateSerializer]
internal sealed record MemoryRow(GrainId Grain, string Name, DateTime StartAt, TimeSpan Period, long Version, bool IsRemoved);

/// <summary>The outcome of a write.</summary>
/// <param name="Version">The version of the row now, or 0 if there was none of the expected version.</param>
[GenerateSerializer]
internal sealed record MemoryAnswer(long Version);

/// <summary>
/// The table of reminders in memory, for development and tests: a copy in each silo. The oldest active silo leads: it serves all reads and
/// writes, and a write is done when all silos of the view have it. So the reminders survive as long as one silo of the cluster does.
/// </summary>
/// <remarks>
/// The rows belong to the turns of this system target; <see cref="IReminderTable"/> may be used from any thread. While silos disagree about
/// the leader a call is repeated; after <see cref="MostPauses"/> it fails. A silo that cannot be reached fails a write until it is dead.
/// Rows that were removed are kept for a minute, so that an older copy that comes late does not bring them back.
/// </remarks>
internal sealed class MemoryReminderTable : IReminderTable, IReminderTableTarget
{
    private const string Name = "reminder-table";
    private const int MostPauses = 100;
    private const int PartBits = 6;
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan RemovedTime = TimeSpan.FromMinutes(1);

    /// <summary>The rows by grain, in parts of the ring of hashes.</summary>
    private readonly Dictionary<GrainId, Dictionary<string, MemoryRow>>[] _parts = [.. Enumerable.Range(0, 1 << PartBits).Select(static _ =>
        new Dictionary<GrainId, Dictionary<string, MemoryRow>>(GrainsByRandomHash.Instance))];
    private readonly Queue<(MemoryRow Row, long At)> _removed = new();
    private readonly HashSet<SiloAddress> _joined = [];
    private LocalNode _local = null!;
    private ClusterView _cluster = null!;
    private GrainFactory _factory = null!;
    private long _version;

    /// <summary>Called before the start.</summary>
    internal void Open(LocalNode local, ClusterView cluster, ActivationTable activations, GrainFactory factory)
    {
        (_local, _cluster, _factory) = (local, cluster, factory);
        activations.AddSystemTarget(Name, this);
    }

    /// <summary>Gets the rows of the cluster, if there is one.</summary>
    public async Task StartAsync(CancellationToken cancellationToken = default)
    {
        if (Leader is not { } leader || leader.Equals(_local.Address))
            return;
        foreach (var row in await AskAsync(static (target, self) => target.Join(self), _local.Address).ConfigureAwait(false))
            await At(_local.Address).Copy(row).ConfigureAwait(false);
    }

    public async Task<ReminderTableData> ReadRows(GrainId grainId) =>
        Table(await AskAsync(static (target, grain) => target.ReadGrain(grain), grainId).ConfigureAwait(false));

    public async Task<ReminderTableData> ReadRows(uint begin, uint end) =>
        Table(await AskAsync(static (target, part) => target.Read(part.begin, part.end), (begin, end)).ConfigureAwait(false));

    public async Task<ReminderEntry?> ReadRow(GrainId grainId, string reminderName) =>
        (await ReadRows(grainId).ConfigureAwait(false)).Reminders.FirstOrDefault(entry => entry.ReminderName == reminderName);

    public async Task<string?> UpsertRow(ReminderEntry entry)
    {
        ArgumentNullException.ThrowIfNull(entry);
        var row = new MemoryRow(entry.GrainId, entry.ReminderName, entry.StartAt, entry.Period, 0, IsRemoved: false);
        var answer = await AskAsync(static (target, row) => target.Write(row), row).ConfigureAwait(false);
        return TagOf(answer.Version);
    }

    public async Task<bool> RemoveRow(GrainId grainId, string reminderName, string eTag)
    {
        if (!long.TryParse(eTag, System.Globalization.CultureInfo.InvariantCulture, out var version) || version <= 0)
            return false;
        var row = new MemoryRow(grainId, reminderName, default, default, version, IsRemoved: true);
        return (await AskAsync(static (target, row) => target.Write(row), row).ConfigureAwait(false)).Version != 0;
    }

    public async Task TestOnlyClearTable()
    {
        foreach (var silo in Copies())
            await At(silo).Clear().ConfigureAwait(false);
    }

    async ValueTask<MemoryAnswer?> IReminderTableTarget.Write(MemoryRow row)
    {
        if (!Leads)
            return null;
        if (row.Version != 0 && !(FindRow(row.Grain, row.Name) is { IsRemoved: false } known && known.Version == row.Version))
            return new MemoryAnswer(0);
        var written = row with { Version = ++_version };
        SetRow(written);
        var copies = Copies().Where(silo => !silo.Equals(_local.Address)).Select(silo => CopyToAsync(silo, written)).ToArray();
        await Task.WhenAll(copies);
        return new MemoryAnswer(written.Version);
    }

    ValueTask IReminderTableTarget.Copy(MemoryRow row)
    {
        SetRow(row);
        return default;
    }

    ValueTask<MemoryRow[]?> IReminderTableTarget.Read(uint begin, uint end) =>
        new(Leads ? [.. PartsWith(begin, end).SelectMany(static part => part.Values).SelectMany(static rows => rows.Values)
            .Where(row => !row.IsRemoved && IsWithin(row.Grain.GetUniformHashCode(), begin, end))] : null);

    ValueTask<MemoryRow[]?> IReminderTableTarget.ReadGrain(GrainId grain) =>
        new(!Leads ? null : PartOf(grain).TryGetValue(grain, out var rows) ? [.. rows.Values.Where(static row => !row.IsRemoved)] : []);

    ValueTask<MemoryRow[]?> IReminderTableTarget.Join(SiloAddress silo)
    {
        if (!Leads)
            return default;
        _joined.Add(silo);
        return new([.. _parts.SelectMany(static part => part.Values).SelectMany(static rows => rows.Values)]);
    }

    ValueTask IReminderTableTarget.Clear()
    {
        Array.ForEach(_parts, static part => part.Clear());
        _removed.Clear();
        return default;
    }

    /// <summary>Whether a hash is above <paramref name="begin"/> and not above <paramref name="end"/>, on the ring.</summary>
    internal static bool IsWithin(uint hash, uint begin, uint end) =>
        begin < end ? hash > begin && hash <= end : begin == end || hash > begin || hash <= end;

    /// <summary>The active silo that was started first; while there is none, the only one that there is.</summary>
    private SiloAddress? Leader
    {
        get
        {
            var active = _cluster.Active;
            return active.Length == 0 ? _local.Address
                : active.OrderBy(static silo => silo.Generation).ThenBy(static silo => silo, SiloOrder.Instance).First();
        }
    }

    private bool Leads => _local.Address.Equals(Leader);

    private Dictionary<GrainId, Dictionary<string, MemoryRow>> PartOf(in GrainId grain) =>
        _parts[grain.GetUniformHashCode() >> (32 - PartBits)];

    private IEnumerable<Dictionary<GrainId, Dictionary<string, MemoryRow>>> PartsWith(uint begin, uint end)
    {
        var from = unchecked(begin + 1);
        return begin == end || from > end
            ? _parts
            : _parts[(int)(from >> (32 - PartBits))..((int)(end >> (32 - PartBits)) + 1)];
    }

    private MemoryRow? FindRow(in GrainId grain, string name) =>
        PartOf(grain).TryGetValue(grain, out var rows) ? rows.GetValueOrDefault(name) : null;

    private void SetRow(MemoryRow row)
    {
        _version = Math.Max(_version, row.Version);
        if (FindRow(row.Grain, row.Name) is { } known && known.Version >= row.Version)
            return;
        var part = PartOf(row.Grain);
        if (!part.TryGetValue(row.Grain, out var rows))
            part.Add(row.Grain, rows = new Dictionary<string, MemoryRow>(1, StringComparer.Ordinal));
        rows[row.Name] = row;
        var now = _local.Clock.Now;
        if (row.IsRemoved)
            _removed.Enqueue((row, now));
        while (_removed.TryPeek(out var oldest) && now - oldest.At > RemovedTime.TotalMilliseconds)
            Forget(_removed.Dequeue().Row);
    }

    private void Forget(MemoryRow removed)
    {
        if (FindRow(removed.Grain, removed.Name)?.Version != removed.Version)
            return;
        var rows = PartOf(removed.Grain)[removed.Grain];
        rows.Remove(removed.Name);
        if (rows.Count == 0)
            PartOf(removed.Grain).Remove(removed.Grain);
    }

    /// <summary>The silos of the view, and those that have asked for all rows and are not in the view of this one yet.</summary>
    private IEnumerable<SiloAddress> Copies()
    {
        var view = _cluster.View;
        _joined.RemoveWhere(view.IsDead);
        return view.Members.Where(member => member.Status != SiloStatus.Dead && !member.Silo.Equals(_local.Address))
            .Select(static member => member.Silo)
            .Union(_joined).Append(_local.Address);
    }

    /// <summary>A silo that is dead needs no copy, and one that is not active yet asks for all rows when it can take them.</summary>
    private async Task CopyToAsync(SiloAddress silo, MemoryRow row)
    {
        try
        {
            await At(silo).Copy(row);
        }
        catch (Exception exception) when (exception is OrleansException or TimeoutException && !_cluster.View.MayHost(silo))
        {
            // Nothing is left to do.
        }
    }

    private async Task<TAnswer> AskAsync<TState, TAnswer>(Func<IReminderTableTarget, TState, ValueTask<TAnswer?>> ask, TState state)
        where TAnswer : class
    {
        for (var pauses = 0; pauses < MostPauses; pauses++)
        {
            var changed = _cluster.Changed;
            try
            {
                if (await ask(At(Leader!), state).ConfigureAwait(false) is { } answer)
                    return answer;
            }
            catch (SiloUnavailableException) when (!_local.IsStopping)
            {
                // Another silo leads soon.
            }

            await changed.WaitAsync(Pause, _local.TaskTime).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        throw new ReminderException("The silo that leads the table of reminders, " + Leader + ", does not answer.");
    }

    private IReminderTableTarget At(SiloAddress silo) => _factory.GetSystemTarget<IReminderTableTarget>(Name, silo);

    private static ReminderTableData Table(MemoryRow[] rows) => new(rows.Select(static row => new ReminderEntry
    {
        GrainId = row.Grain,
        ReminderName = row.Name,
        StartAt = row.StartAt,
        Period = row.Period,
        ETag = TagOf(row.Version),
    }));

    private static string TagOf(long version) => version.ToString(System.Globalization.CultureInfo.InvariantCulture);
}

/// <summary><c>Orleans:Reminders:ProviderType</c> Memory.</summary>
internal sealed class MemoryReminderSection : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection) =>
        builder.UseInMemoryReminderService();
}
