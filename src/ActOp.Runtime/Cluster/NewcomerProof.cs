using ActOp.Mesh;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>
/// The proof of a silo that joins, part of <see cref="MembershipProtocol"/>: it becomes active only after it has reached every member and
/// every member has reached it. Until then it has no vote, no slot and no grain, so wrong settings cost nobody but itself.
/// </summary>
/// <remarks>
/// <para>Holds, for each other silo of the table, what is known of the way there and back; it ends with the row, and all of it when this
/// silo is active or stops. Pure: the time comes with each call. Runs on the control stage.</para>
/// <para>It introduces itself once a second to every silo that has not confirmed it. A member that hears it dials the address
/// under which this silo lets itself be reached (<see cref="Introductions"/>), and answers over the session that is there. The write that
/// makes this silo active is a compare-and-swap against the table for which the proof holds: of silos that start together, the second must
/// be confirmed by the first.</para>
/// <list type="table">
/// <item><term>a member does not answer</term><description> It is waited for until the others declare it dead, or have begun to: a vote of
/// a member that has confirmed this silo excuses it. If there is no such member, its sign of life in the table decides. While that moves,
/// the member lives and this silo is at fault. If it stands still for as long as makes it stale for votes, the member is excused: so a
/// cluster that was killed whole starts again at other addresses.</description></item>
/// <item><term>a member refuses this silo, or cannot dial it</term><description> Repeated, as its settings or ours may just be changing.
/// After as many failures as make a silo suspect, for a reason that does not pass by itself, of a member that lives: the start fails with
/// the reason.</description></item>
/// <item><term>answers are lost, late or come twice</term><description> The next introduction asks again; a confirmation holds once it was
/// given, as the probes of active silos watch what follows.</description></item>
/// <item><term>nothing is decided</term><description> The start fails after <see cref="MembershipOptions.MaxJoinTime"/>.</description>
/// </item>
/// </list>
/// </remarks>
internal sealed class NewcomerProof(SiloAddress self, MembershipOptions options, KnownTable known, MembershipOutput output)
{
    private readonly Dictionary<SiloAddress, Acquaintance> _others = [];
    private long? _since;

    /// <summary>The member accepts this silo, or cannot dial it.</summary>
    public void OnReply(IntroductionReply reply)
    {
        if (_others.TryGetValue(reply.From, out var other))
        {
            other.Hears = true;
            other.Back = reply.Reason == DisconnectReason.None ? null : new DialFailure(reply.Reason, reply.Why);
            other.IsMutual |= other.Back is null;
        }
    }

    /// <summary>A dial of another silo failed.</summary>
    public void OnNotReached(SiloAddress silo, DialFailure failure)
    {
        if (_others.TryGetValue(silo, out var other))
            other.There = failure;
    }

    /// <summary>Introduces this silo to those that have not confirmed it. Call while it is joining.</summary>
    public void Tick(long now)
    {
        _since ??= now;
        foreach (var silo in _others.Keys.Where(silo => known.Table.FindRow(silo) is not { IsAlive: true }).ToArray())
            _others.Remove(silo);

        foreach (var row in known.Table.Rows)
        {
            if (!row.IsAlive || row.Silo.Equals(self))
                continue;

            if (!_others.TryGetValue(row.Silo, out var other))
                _others.Add(row.Silo, other = new Acquaintance());

            if (!other.IsMutual && now >= other.Due)
            {
                other.Count();
                other.Due = now + options.IntroductionPeriod;
                output.Add(new MembershipAction.SendIntroduction(
                    row.Silo, new Introduction(output.NextId(), self, known.Table.Version)));
            }
        }
    }

    /// <summary>Whether every member of the known table has confirmed this silo, or is excused.</summary>
    public bool IsComplete(long now) => Missing(now).Count == 0;

    /// <summary>Why this silo must give up; null while it need not.</summary>
    public string? GivesUp(long now)
    {
        var missing = Missing(now);
        var isFinal = missing.Count > 0
            && (now - _since >= options.MaxJoinTime || missing.Any(row => IsAtFault(row.Silo, _others.GetValueOrDefault(row.Silo))));
        return isFinal ? Describe(missing) : null;
    }

    /// <summary>The members that have not confirmed this silo, each with the last reason.</summary>
    public string Describe(long now) => Describe(Missing(now));

    /// <summary>Forgets all.</summary>
    public void Clear()
    {
        _others.Clear();
        _since = null;
    }

    private List<MembershipRow> Missing(long now)
    {
        var missing = new List<MembershipRow>();
        foreach (var row in known.Table.Rows)
        {
            if (Member.MayHostIn(row.Status) && !row.Silo.Equals(self) && !IsConfirmedBy(row.Silo) && !IsExcused(row, now))
                missing.Add(row);
        }

        return missing;
    }

    private bool IsConfirmedBy(SiloAddress silo) => _others.TryGetValue(silo, out var other) && other.IsMutual;

    private bool IsExcused(MembershipRow row, long now) =>
        (!Hears(row.Silo) && known.StillFor(row.Silo) >= options.StaleTime) || row.Votes.Any(vote => IsConfirmedBy(vote.Voter));

    private bool Hears(SiloAddress silo) => _others.TryGetValue(silo, out var other) && other.Hears;

    private bool IsAtFault(SiloAddress silo, Acquaintance? other) =>
        other is not null && other.Failures >= options.MissedProbesLimit && (other.Hears || known.HasBeaten(silo));

    private string Describe(List<MembershipRow> missing) => string.Join("; ", missing.Select(row =>
        "silo " + row.Silo + " " + (_others.TryGetValue(row.Silo, out var other) ? other.ToString() : "was not asked yet")));

    /// <summary>What is known of the way to one silo and back.</summary>
    private sealed class Acquaintance
    {
        /// <summary>When the next introduction is due.</summary>
        public long Due { get; set; }

        /// <summary>Both ways have been used.</summary>
        public bool IsMutual { get; set; }

        /// <summary>It has answered: this silo reaches it.</summary>
        public bool Hears { get; set; }

        /// <summary>Why this silo did not reach it at last; null if no dial failed.</summary>
        public DialFailure? There { get; set; }

        /// <summary>Why it did not reach this silo at last; null if it has not said so.</summary>
        public DialFailure? Back { get; set; }

        /// <summary>Introductions in a row that failed for a reason that does not pass by itself.</summary>
        public int Failures { get; private set; }

        public void Count() => Failures = (Hears ? IsLastingBack : There is { IsPermanent: true }) ? Failures + 1 : 0;

        // Who cannot be dialled by a silo that it has dialled itself has stated a wrong address.
        private bool IsLastingBack => Back is { IsPermanent: true }
            or { Reason: DisconnectReason.ConnectRefused or DisconnectReason.WrongNode or DisconnectReason.Self };

        public override string ToString() =>
            !Hears ? There is null ? "does not answer" : "is not reached: " + DialFailures.Cause(There)
            : Back is null ? "has not confirmed it yet"
            : "does not reach this silo at its address (EndpointOptions.AdvertisedIPAddress, SiloPort): " + DialFailures.Cause(Back);
    }
}

/// <summary>
/// What one silo does for those that join, part of <see cref="MembershipProtocol"/>: dials the address of a newcomer and tells it the
/// result.
/// </summary>
/// <remarks>
/// Holds the dials under way, one for each newcomer that the table lists; it is given back with the result, or after <see cref="Longest"/>
/// if none comes. Further introductions of the same newcomer are not answered meanwhile. Nothing is dialled for who is not in the table: an
/// introduction that is faster than the news of the join waits for it, <see cref="MaxWaiting"/> of them at most; any more are dropped, and
/// come again.
/// </remarks>
internal sealed class Introductions(SiloAddress self, KnownTable known, MembershipOutput output)
{
    private const long Longest = 30_000;
    private const int MaxWaiting = 64;
    private readonly Dictionary<SiloAddress, (long Id, long Since)> _dials = [];
    private readonly Dictionary<SiloAddress, (long Id, long Since)> _waiting = [];

    /// <summary>Another silo joins and wants to be reached.</summary>
    public void OnIntroduction(Introduction introduction, long now)
    {
        if (IsListed(introduction.From))
            Dial(introduction.From, introduction.Id, now);
        else if (_waiting.Count < MaxWaiting)
            _waiting[introduction.From] = (introduction.Id, now);
    }

    /// <summary>The table has changed: dials those that were not listed before.</summary>
    public void OnTable(long now)
    {
        foreach (var (silo, waiting) in _waiting.ToArray())
        {
            if (IsListed(silo))
            {
                _waiting.Remove(silo);
                Dial(silo, waiting.Id, now);
            }
            else if (now - waiting.Since >= Longest)
            {
                _waiting.Remove(silo);
            }
        }
    }

    /// <summary>The dial of a newcomer has ended.</summary>
    public void OnDialledBack(SiloAddress silo, DialFailure? failure)
    {
        if (_dials.Remove(silo, out var dial))
        {
            output.Add(new MembershipAction.SendIntroductionReply(
                silo, new IntroductionReply(dial.Id, self, failure?.Reason ?? DisconnectReason.None, failure?.Why)));
        }
    }

    /// <summary>Forgets all.</summary>
    public void Clear()
    {
        _dials.Clear();
        _waiting.Clear();
    }

    private bool IsListed(SiloAddress silo) => known.Table.FindRow(silo) is { IsAlive: true };

    private void Dial(SiloAddress silo, long id, long now)
    {
        if (_dials.TryGetValue(silo, out var dial) && now - dial.Since < Longest)
            return;

        foreach (var gone in _dials.Keys.Where(other => !IsListed(other)).ToArray())
            _dials.Remove(gone);

        _dials[silo] = (id, now);
        output.Add(new MembershipAction.DialBack(silo));
    }
}
