using System.ComponentModel;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Calls;

/// <summary>
/// The cancellation of one call whose method takes a <see cref="CancellationToken"/>: watches the token of the caller and has the token
/// that the method gets. Generated calls of such methods create one, and keep it as long as the pooled call; other calls have none.
/// </summary>
/// <remarks>
/// <para>Holds two things. At the caller: the registration on the caller's token, from <see cref="Watch"/> until the call ends
/// (<see cref="EndWatch"/>), whoever ends it. At the callee: the source of the method's token, which is used again if it was not cancelled,
/// and, for a request from the wire, the entry in <see cref="CancellableCalls"/>; <see cref="Reset"/> gives both back.</para>
/// <para>A call that was cancelled never returns to its pool at the caller, so the party that cancels may use the object for as long as it
/// likes. If a cancellation comes twice, or after the end, it finds nothing. Callbacks on the method's token run on a turn of the callee;
/// if one throws, the callee logs it.</para>
/// <para>The mark may be set by any thread. The one that sets it then looks for the callee; the callee sets itself, then looks for the
/// mark. The rare side pays for the fence between (<see cref="Interlocked.MemoryBarrierProcessWide"/>).</para>
/// </remarks>
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class CallCancellation
{
    private const byte None = 0;
    private const byte Live = 1;

    private readonly Call _call;
    private CancellationTokenSource? _source;
    private CancellationTokenRegistration _registration;
    private CallHost? _host;
    private bool _isUsed;
    private bool _isMarked;

    /// <summary>The ticket of the call while its request is written to a link; negative if it was cancelled meanwhile.</summary>
    private long _sending;

    /// <summary>Made by generated code.</summary>
    /// <param name="call">The call that it belongs to.</param>
    public CallCancellation(Call call) => _call = call;

    /// <summary>The call.</summary>
    internal Call Call => _call;

    /// <summary>The ticket of the use that is watched.</summary>
    internal long Ticket { get; private set; }

    /// <summary>The number of uses: a note about an earlier use has no effect.</summary>
    internal int Generation { get; private set; }

    /// <summary>The method runs or has run. On the turns of the callee.</summary>
    internal bool HasStarted { get; private set; }

    /// <summary>The call was cancelled. Any thread.</summary>
    internal bool IsCancelled => Volatile.Read(ref _isMarked);

    /// <summary>The activation in which the request runs or waits. Any thread.</summary>
    internal CallHost? Host => Volatile.Read(ref _host);

    /// <summary>The method gets a token that can be cancelled.</summary>
    internal bool IsLive => _isUsed;

    /// <summary>
    /// The request was cancelled because the link to its caller was lost: a caller that lives has cancelled nothing. Set before the mark.
    /// </summary>
    internal bool IsCallerLost { get; set; }

    /// <summary>For a request from the wire: the table that it is in, and its place there.</summary>
    internal CancellableCalls? Table { get; set; }

    /// <inheritdoc cref="Table"/>
    internal (object Origin, ulong Ticket) Key { get; set; }

    /// <summary>The token for the method, in place of the one that the caller has passed. Called by generated code.</summary>
    public CancellationToken Isolate(CancellationToken token) =>
        token.CanBeCanceled || _call.Runtime!.CancelsOnTimeout ? TakeSource().Token : token;

    /// <summary>Writes whether the method gets a token that can be cancelled. Called by generated code.</summary>
    public void Write(ref WireWriter writer, CancellationToken token) =>
        writer.WriteByte(token.CanBeCanceled || _call.Runtime!.CancelsOnTimeout ? Live : None);

    /// <summary>The token for the method of a request from the wire. Called by generated code.</summary>
    public CancellationToken Read(ref WireReader reader) => reader.ReadByte() == None ? CancellationToken.None : TakeSource().Token;

    /// <summary>Prepares for the next use of the call. Called by generated code when the call returns to its pool.</summary>
    public void Reset()
    {
        Table?.Remove(this);
        Generation++;
        _host = null;
        _isMarked = false;
        IsCallerLost = false;
        _sending = 0;
        HasStarted = false;
        if (!_isUsed)
            return;
        _isUsed = false;
        if (!_source!.TryReset())
            _source = null;
    }

    /// <summary>Cancels the token of the method, on the thread of the caller. False if the method has none.</summary>
    public bool TryCancel()
    {
        if (!_isUsed)
            return false;
        _source!.Cancel();
        return true;
    }

    /// <summary>Watches the token of the caller, which is live. The call is registered as in flight.</summary>
    internal void Watch(CancellationToken token)
    {
        var ticket = _call.Ticket;
        // Ended already: its deadline has passed, or the node stops.
        if (ticket == Call.Claimed)
            return;
        if (Invariant.AreChecked)
            Invariant.Holds(_registration == default);
        Ticket = ticket;
        _registration = token.UnsafeRegister(static (state, cancelled) =>
        {
            var cancellation = (CallCancellation)state!;
            cancellation._call.Runtime!.CallerCancelled(cancellation, cancelled);
        }, this);
        // The party that ends the call either sees the registration or has made its claim before: then it is ended here.
        Interlocked.MemoryBarrier();
        if (_call.Ticket != ticket)
            EndWatch();
    }

    /// <summary>
    /// The call has ended. Called once, by the party that has won the claim, before it passes the call on; and by the thread that watches
    /// the token, if the call has ended meanwhile: then the object is in no other use.
    /// </summary>
    internal void EndWatch()
    {
        var registration = _registration;
        if (registration == default)
            return;
        _registration = default;
        // The callback runs now, or has run: it may use the object for longer than this use lasts.
        if (!registration.Unregister())
            _call.Unpooled = true;
    }

    /// <summary>Marks the call as cancelled. False if it was marked before.</summary>
    internal bool Mark()
    {
        if (IsCancelled)
            return false;
        Volatile.Write(ref _isMarked, true);
        Interlocked.MemoryBarrierProcessWide();
        return true;
    }

    /// <summary>Marks the call as cancelled and tells the activation that has it. False if no activation of this process has it.</summary>
    internal bool TellHost()
    {
        if (Host is not { } host)
            return false;
        host.Enqueue(new CancelItem(this));
        return true;
    }

    /// <summary>The request waits in an activation. False if it was cancelled. On the turn.</summary>
    internal bool TryWait(CallHost host)
    {
        Volatile.Write(ref _host, host);
        return !IsCancelled;
    }

    /// <summary>The method is about to run. False if the request was cancelled, and must not run. On the turn.</summary>
    internal bool TryStart(CallHost host)
    {
        Volatile.Write(ref _host, host);
        HasStarted = true;
        return !IsCancelled;
    }

    /// <summary>The activation has ended before the request ran, which is routed again.</summary>
    internal void Leave() => Volatile.Write(ref _host, null);

    /// <summary>The call of this process is about to be sent to another node. False if it was cancelled: it must not be sent.</summary>
    internal bool TrySend(long ticket)
    {
        Interlocked.Exchange(ref _sending, ticket);
        return !IsCancelled;
    }

    /// <summary>
    /// A request from the wire is about to be sent on. From here on, the table sends a cancellation after it. False if it was cancelled
    /// already: it must not be sent.
    /// </summary>
    internal bool TryLeave(SiloAddress next, long until) => Table is { } table ? table.TryLeave(this, next, until) : !IsCancelled;

    /// <summary>The request was cancelled before it arrived. Before anybody else has it.</summary>
    internal void ArriveCancelled() => Volatile.Write(ref _isMarked, true);

    /// <summary>The request was sent. True if it was cancelled meanwhile: then the other node must be told by the caller of this.</summary>
    internal bool EndSend(long ticket) => Interlocked.CompareExchange(ref _sending, 0, ticket) == -ticket;

    /// <summary>True if the thread that sends the request now will also tell the other node. After the mark.</summary>
    internal bool IsLeftToSender(long ticket) => Interlocked.CompareExchange(ref _sending, -ticket, ticket) == ticket;

    /// <summary>The source of the method's token, if it has one. On a turn of the callee.</summary>
    internal CancellationTokenSource? Source => _isUsed ? _source : null;

    private CancellationTokenSource TakeSource()
    {
        _isUsed = true;
        return _source ??= new CancellationTokenSource();
    }
}

/// <summary>Tells an activation that one of its requests was cancelled: waiting or running.</summary>
internal sealed class CancelItem(CallCancellation cancellation) : MailboxItem
{
    private readonly int _generation = cancellation.Generation;

    /// <summary>
    /// If the request is still the activation's, it can leave it only on the turns of the activation, so that nothing changes while this
    /// runs.
    /// </summary>
    internal override void Run(CallHost host)
    {
        if (cancellation.Generation == _generation && ReferenceEquals(cancellation.Host, host))
            host.CancelInTurn(cancellation);
    }
}
