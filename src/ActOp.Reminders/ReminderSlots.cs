using ActOp.Runtime.Cluster;
using ActOp.Runtime.Directory;
using Orleans.Runtime;

namespace ActOp.Reminders;

/// <summary>
/// The slots whose reminders this silo runs. Pure. A slot that has another owner in a new view goes from the old one to the new one: the
/// old one stops its ticks and says when (<see cref="ReminderRelease"/>), and the new one sends what is due after that, so that no tick is
/// missed or sent twice. The new one does not wait for an owner that is dead, nor for longer than <see cref="LongestWait"/>: then it begins
/// with the time of its own view. If the slot goes on to a third silo before the first one has said when it stopped, the second one passes
/// that on as soon as it knows it, and says nothing of its own. Runs on the turns of <see cref="ReminderService"/>.
/// </summary>
internal sealed class ReminderSlots(SiloAddress self)
{
    /// <summary>Longer than a view takes from one silo to another.</summary>
    internal static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(5);

    private readonly State[] _states = new State[SlotMap.SlotCount];
    private readonly long[] _since = new long[SlotMap.SlotCount];
    private readonly SiloAddress?[] _from = new SiloAddress?[SlotMap.SlotCount];

    /// <summary>Releases that came before the view that they belong to: when the ticks stopped, and when that arrived.</summary>
    private readonly Dictionary<int, (long At, long View, long Arrived)> _early = [];

    private enum State : byte
    {
        /// <summary>Another silo runs its reminders.</summary>
        None,

        /// <summary>Owned; the owner before has not said yet that it has stopped.</summary>
        Awaiting,

        /// <summary>Owned, and to be read from the table.</summary>
        Loading,

        /// <summary>Owned and read.</summary>
        Ready,
    }

    /// <summary>Who owns which slot.</summary>
    internal SlotMap Map { get; private set; } = new(View.Empty);

    /// <summary>Whether slots are to be read.</summary>
    internal bool IsLoading => Array.IndexOf(_states, State.Loading) >= 0;

    internal bool IsAwaiting => Array.IndexOf(_states, State.Awaiting) >= 0;

    /// <summary>
    /// When the wait for the owner before ends next, if that says nothing: <see cref="OnTick"/> is to be called then. Null if none is
    /// awaited.
    /// </summary>
    internal long? AwaitedUntil
    {
        get
        {
            long? first = null;
            for (var slot = Array.IndexOf(_states, State.Awaiting); slot >= 0; slot = Array.IndexOf(_states, State.Awaiting, slot + 1))
                first = Math.Min(first ?? long.MaxValue, _since[slot] + LongestWait.Ticks);
            return first;
        }
    }

    internal bool Owns(int slot) => _states[slot] != State.None;

    /// <summary>Whether the reminders of a slot are all known.</summary>
    internal bool IsReady(int slot) => _states[slot] == State.Ready;

    /// <summary>
    /// Whether the owner before has not said yet when it has stopped the ticks of a slot; its reminders are read after that.
    /// </summary>
    internal bool IsAwaited(int slot) => _states[slot] == State.Awaiting;

    /// <summary>
    /// For a slot of this silo: what was due until then is not to be sent. For one that it has lost: until when it has sent the ticks; the
    /// next owner sends those after that.
    /// </summary>
    internal long SinceOf(int slot) => _since[slot];

    /// <summary>Takes a new view. Returns what the owners of the lost slots must be told.</summary>
    internal List<(SiloAddress To, ReminderRelease Release)> OnView(View view, long now)
    {
        var before = Map;
        var told = new Releases(view.Number);
        Map = before.For(view);
        for (var slot = 0; slot < _states.Length; slot++)
        {
            var owner = Map.OwnerOf(slot);
            if (self.Equals(owner))
                Gain(slot, before.OwnerOf(slot), view, now);
            else if (_states[slot] != State.None)
                Lose(slot, owner, view, told, now);
            else if (_early.TryGetValue(slot, out var early) && early.View <= view.Number && early.View != 0 && _early.Remove(slot))
                told.Add(owner, early.At, slot);
        }

        Forget(now);
        return told.All;
    }

    /// <summary>
    /// The owner before has stopped the ticks of slots. Returns what is passed on, because they have another owner already.
    /// </summary>
    internal List<(SiloAddress To, ReminderRelease Release)> OnRelease(ReminderRelease release, long now)
    {
        var told = new Releases(Map.View.Number);
        for (var slot = release.Slots.Next(-1); slot >= 0; slot = release.Slots.Next(slot))
        {
            if (_states[slot] == State.Awaiting)
                Load(slot, release.At);
            else if (_states[slot] == State.None && release.View <= Map.View.Number && release.View != 0)
                told.Add(Map.OwnerOf(slot), release.At, slot);
            else if (_states[slot] == State.None)
                _early[slot] = (release.At, release.View, now);
        }

        return told.All;
    }

    /// <summary>Waits no longer for owners that do not say that they have stopped.</summary>
    internal void OnTick(long now)
    {
        for (var slot = 0; slot < _states.Length; slot++)
        {
            if (_states[slot] == State.Awaiting && now - _since[slot] >= LongestWait.Ticks)
                Load(slot, _since[slot]);
        }
    }

    /// <summary>The slots whose rows a read of the table that begins now will find.</summary>
    internal SlotSet Readable()
    {
        var slots = new SlotSet();
        for (var slot = 0; slot < _states.Length; slot++)
        {
            if (_states[slot] >= State.Loading)
                slots.Add(slot);
        }

        return slots;
    }

    /// <summary>A read of the table has ended.</summary>
    internal void OnRead(SlotSet slots)
    {
        for (var slot = slots.Next(-1); slot >= 0; slot = slots.Next(slot))
        {
            if (_states[slot] == State.Loading)
                _states[slot] = State.Ready;
        }
    }

    private void Gain(int slot, SiloAddress? before, View view, long now)
    {
        Invariant.Holds(_states[slot] == State.Awaiting || _from[slot] is null);
        if (Invariant.AreChecked)
            Invariant.Holds(_states[slot] == State.None || !_early.ContainsKey(slot));
        if (_states[slot] == State.None)
        {
            _since[slot] = now;
            if (_early.Remove(slot, out var release))
            {
                Load(slot, release.At);
                return;
            }

            _from[slot] = before;
            _states[slot] = State.Awaiting;
        }

        if (_states[slot] == State.Awaiting && (_from[slot] is not { } from || !view.MayHost(from)))
            Load(slot, _since[slot]);
    }

    private void Lose(int slot, SiloAddress? owner, View view, Releases told, long now)
    {
        var stopped = _states[slot] == State.Ready ? now : _since[slot];
        // The silo from which it was awaited may still run its ticks: only its own release says when it has stopped.
        var isKnown = _states[slot] != State.Awaiting || _from[slot] is not { } from || !view.MayHost(from);
        _states[slot] = State.None;
        _since[slot] = stopped;
        _from[slot] = null;
        if (isKnown)
            told.Add(owner, stopped, slot);
    }

    private void Load(int slot, long since)
    {
        Invariant.Holds(_states[slot] is State.None or State.Awaiting);
        _since[slot] = since;
        _from[slot] = null;
        _states[slot] = State.Loading;
    }

    /// <summary>What other silos must be told, those with one time together.</summary>
    private sealed class Releases(long view)
    {
        private readonly Dictionary<(SiloAddress To, long At), SlotSet> _slots = [];

        internal List<(SiloAddress To, ReminderRelease Release)> All =>
            [.. _slots.Select(entry => (entry.Key.To, new ReminderRelease(entry.Value, entry.Key.At, view)))];

        internal void Add(SiloAddress? owner, long at, int slot)
        {
            if (owner is null)
                return;
            if (!_slots.TryGetValue((owner, at), out var slots))
                _slots.Add((owner, at), slots = new SlotSet());
            slots.Add(slot);
        }
    }

    /// <summary>A release whose view has not come soon belongs to a view that was skipped.</summary>
    private void Forget(long now)
    {
        foreach (var (slot, release) in _early)
        {
            if (now - release.Arrived >= 2 * LongestWait.Ticks)
                _early.Remove(slot);
        }
    }
}
