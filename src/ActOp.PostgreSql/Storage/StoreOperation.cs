using System.Globalization;
using System.Text;
using ActOp.PostgreSql.Schema;

namespace ActOp.PostgreSql.Storage;

/// <summary>What is done with one state.</summary>
internal enum StateWork
{
    /// <summary>Read version and data.</summary>
    Read,

    /// <summary>Write data; without data the record stays, empty.</summary>
    Write,

    /// <summary>Remove the record.</summary>
    Delete,
}

/// <summary>Whose state: a row of actop_state, or of OrleansStorage, in one service.</summary>
internal readonly record struct StateKey(string Name, string Grain)
{
    /// <summary>By what OrleansStorage finds it; null if the table of Orleans is not used, or cannot hold it.</summary>
    internal OrleansKey? Orleans { get; init; }

    /// <summary>For messages: clients choose keys, and a log has lines.</summary>
    internal string ShownName => Shown(Name);

    /// <inheritdoc cref="ShownName"/>
    internal string ShownGrain => Shown(Grain);

    private static string Shown(string text)
    {
        const int most = 200;
        var start = text.Length > most ? text[..most] + "..." : text;
        return start.Any(char.IsControl) ? string.Concat(start.Select(static one => char.IsControl(one) ? '?' : one)) : start;
    }
}

/// <summary>How an operation ended.</summary>
/// <param name="IsConflict">The record has another version than the operation expected; nothing was changed.</param>
/// <param name="Version">The version of the record now, or that it has in a conflict; null if there is none.</param>
/// <param name="Data">Read: the data; null if there are none.</param>
internal readonly record struct StateOutcome(bool IsConflict, long? Version, byte[]? Data = null);

/// <summary>One read, write or removal of a state, from the caller to the lane that does it.</summary>
/// <remarks>
/// A write has a version of its own, a number that no other write has. So if the connection breaks in the middle, the same write may be
/// sent again: the record has one of the versions from before, or the one of this write, or another one, and each says what has happened.
/// </remarks>
internal sealed class StoreOperation(StateWork work, StateKey key, RecordVersions expected, byte[]? data)
    : PipelineItem
{
    private readonly TaskCompletionSource<StateOutcome> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal StateWork Work => work;

    internal StateKey Key => key;

    /// <summary>What the record must be.</summary>
    internal RecordVersions Expected => expected;

    internal byte[]? Data => data;

    /// <summary>The version of the record after this write; set when the queue takes it.</summary>
    internal long Version { get; set; }

    /// <summary>A lane has it. Guarded by the lock of the queue, as <see cref="IsGivenUp"/> is until then.</summary>
    internal bool IsTaken { get; set; }

    /// <summary>Its caller no longer waits: it is not begun, and not repeated.</summary>
    internal bool IsGivenUp { get; set; }

    /// <summary>The session of the server that does the present attempt; null before, or if nobody knows.</summary>
    internal ServerSession? Session { get; set; }

    /// <summary>
    /// The sessions of the server that may still do an earlier attempt to make the record. They must have ended before the record is
    /// changed again: otherwise the attempt could make the record anew after it was removed.
    /// </summary>
    internal ServerSession[] Lost { get; set; } = expected.Lost;

    internal Task<StateOutcome> Ended => _ended.Task;

    internal override bool IsAnswered => _ended.Task.IsCompleted;

    /// <summary>Whether it may make a record.</summary>
    internal bool IsInsert => Work == StateWork.Write && data is not null && expected.MayBeNone;

    /// <summary>Whether it may change a row that is there.</summary>
    internal bool IsUpdate => Work == StateWork.Write && expected.Versions.Length > 0;

    internal bool IsDelete => Work == StateWork.Delete && expected.Versions.Length > 0;

    /// <summary>What the record may be if the outcome of this change is unknown.</summary>
    /// <param name="isCounted">
    /// Whether the table numbers versions one by one, so that the version after this change may be that of another's change, too.
    /// </param>
    internal RecordVersions InDoubt(bool isCounted) => isCounted ? expected with { Lost = Lost }
        : Work == StateWork.Delete ? expected.OrNone()
        : expected.Or(Version, Lost);

    internal override void NoteBegin() => Session = null;

    internal override void NoteLost()
    {
        base.NoteLost();
        if (IsInsert && Session is { } lost)
            Lost = [.. Lost, lost];
    }

    internal void Done(long? newVersion) => _ended.TrySetResult(new StateOutcome(false, newVersion));

    internal void Found(long? foundVersion, byte[]? found) => _ended.TrySetResult(new StateOutcome(false, foundVersion, found));

    internal void Conflict(long? stored) => _ended.TrySetResult(new StateOutcome(true, stored));

    internal void Fail(Exception exception) => _ended.TrySetException(exception);
}

/// <summary>A process of the server.</summary>
/// <param name="Process">Its number, which a later process may have too.</param>
/// <param name="Began">When it began, in µs since 1970 by the server.</param>
internal readonly record struct ServerSession(int Process, long Began);

/// <summary>
/// What a record may be: one version, or none, if that is known; more after changes of unknown outcome. Immutable.
/// </summary>
/// <remarks>
/// It is the ETag of the state, so it goes wherever the state goes. As text, the versions are joined by question marks, no record is 0, and
/// a session that may still make the record is <c>process@began</c>: <c>17</c>, <c>17?29</c>, <c>0?29?4711@1700000000000000</c>.
/// </remarks>
/// <param name="Versions">The versions that it may have.</param>
/// <param name="MayBeNone">Whether there may be no record.</param>
/// <param name="Lost">The sessions that may still make it.</param>
internal sealed record RecordVersions(long[] Versions, bool MayBeNone, ServerSession[] Lost)
{
    /// <summary>
    /// Versions after failures one after the other, each of unknown outcome. Beyond that the oldest one is forgotten, which ends in a
    /// conflict and not in a loss.
    /// </summary>
    private const int Most = 16;

    /// <summary>No record.</summary>
    internal static readonly RecordVersions None = new([], MayBeNone: true, []);

    internal static RecordVersions Exactly(long version) => new([version], MayBeNone: false, []);

    /// <summary>Null if the text is none of this storage.</summary>
    internal static RecordVersions? Parse(string? etag)
    {
        if (string.IsNullOrEmpty(etag))
            return None;
        List<long> versions = [];
        List<ServerSession> lost = [];
        var mayBeNone = false;
        foreach (var part in etag.Split('?'))
        {
            var at = part.IndexOf('@', StringComparison.Ordinal);
            if (!TryNumber(part.AsSpan(at + 1), out var number))
                return null;
            if (at >= 0 && TryNumber(part.AsSpan(0, at), out var process) && process is > 0 and <= int.MaxValue)
                lost.Add(new ServerSession((int)process, number));
            else if (at >= 0)
                return null;
            else if (number == 0)
                mayBeNone = true;
            else
                versions.Add(number);
        }

        return mayBeNone || versions.Count > 0 ? new RecordVersions([.. versions], mayBeNone, [.. lost]) : null;
    }

    /// <summary>Null if there is no record.</summary>
    internal string? Text()
    {
        if (Versions.Length == 0 && Lost.Length == 0)
            return null;
        var text = new StringBuilder();
        if (MayBeNone)
            text.Append('0');
        foreach (var version in Versions)
            text.Append(text.Length > 0 ? "?" : "").Append(version.ToString(CultureInfo.InvariantCulture));
        foreach (var (process, began) in Lost)
            text.Append(CultureInfo.InvariantCulture, $"?{process}@{began}");
        return text.ToString();
    }

    /// <summary>Or this version.</summary>
    internal RecordVersions Or(long version, ServerSession[] lost) => this with
    {
        Versions = [.. Versions.Skip(Math.Max(0, Versions.Length + 1 - Most)), version],
        Lost = lost,
    };

    /// <summary>Or no record.</summary>
    internal RecordVersions OrNone() => this with { MayBeNone = true };

    private static bool TryNumber(ReadOnlySpan<char> text, out long number) =>
        long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number);
}
