using System.ComponentModel;
using ActOp.Calls;
using Orleans.Concurrency;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace Orleans;

/// <summary>
/// A token that the caller can cancel, and that grains pass on to each other. The older way: a method may take a
/// <see cref="System.Threading.CancellationToken"/> as well.
/// </summary>
/// <remarks>
/// Any thread. Holds the grains that it was passed to until it is cancelled, disposed or forgotten. Each grain gets a token of its own with
/// the same id; callbacks run on turns of that grain.
/// </remarks>
public sealed class GrainCancellationToken : IDisposable
{
    private readonly CancellationTokenSource _source = new();
    private readonly Lock _gate = new();
    private Dictionary<GrainId, ICancellationSourcesExtension>? _targets;
    private bool _isCancelled;

    internal GrainCancellationToken(Guid id, bool isCancelled)
    {
        Id = id;
        CancellationToken = _source.Token;
        if (!isCancelled)
            return;
        _isCancelled = true;
        _source.Cancel();
    }

    /// <summary>The token for code that is no grain call.</summary>
    public CancellationToken CancellationToken { get; }

    internal Guid Id { get; }

    internal bool IsCancelled => Volatile.Read(ref _isCancelled);

    /// <summary>Releases what belongs to the token. Grains that have it are told nothing any more.</summary>
    public void Dispose()
    {
        lock (_gate)
            _targets = null;
        _source.Dispose();
    }

    /// <summary>The token is about to be passed to a grain, which will be told of a cancellation. Called by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static void PassTo(GrainCancellationToken? token, GrainReference target)
    {
        ArgumentNullException.ThrowIfNull(target);
        token?.Add(target);
    }

    /// <summary>The token of the grain in place of the one that has arrived. Called by generated code.</summary>
    [EditorBrowsable(EditorBrowsableState.Never)]
    public static GrainCancellationToken? Arrive(GrainCancellationToken? token, ITargetHolder holder) =>
        token is not null && holder?.GetComponent(typeof(ICancellationSourcesExtension)) is ITokenReceiver sources
            ? sources.Receive(token)
            : token;

    /// <summary>Cancels here, and at the grains that the token was passed to. Comes once: later calls do nothing.</summary>
    /// <exception cref="AggregateException">Callbacks have thrown, here or there.</exception>
    internal async Task CancelAsync()
    {
        ICancellationSourcesExtension[] targets;
        lock (_gate)
        {
            if (_isCancelled)
                return;
            _isCancelled = true;
            targets = [.. _targets?.Values ?? Enumerable.Empty<ICancellationSourcesExtension>()];
            _targets = null;
        }

        var told = Task.WhenAll(targets.Select(target => target.CancelRemoteToken(Id)));
        try
        {
            _source.Cancel();
        }
        finally
        {
            await told;
        }
    }

    private void Add(GrainReference target)
    {
        lock (_gate)
        {
            if (!_isCancelled)
                (_targets ??= []).TryAdd(target.GrainId, target.Cast<ICancellationSourcesExtension>());
        }
    }
}

/// <summary>Makes a <see cref="GrainCancellationToken"/> and cancels it.</summary>
public sealed class GrainCancellationTokenSource : IDisposable
{
    /// <summary>Creates a source with a new token.</summary>
    public GrainCancellationTokenSource() => Token = new GrainCancellationToken(Guid.NewGuid(), isCancelled: false);

    /// <summary>Whether it was cancelled.</summary>
    public bool IsCancellationRequested => Token.IsCancelled;

    /// <summary>The token, to be passed to grains.</summary>
    public GrainCancellationToken Token { get; }

    /// <summary>Cancels the token. Completes when all grains that it was passed to have been told.</summary>
    /// <exception cref="AggregateException">Callbacks have thrown, here or at a grain.</exception>
    public Task Cancel() => Token.CancelAsync();

    /// <summary>Disposes the token.</summary>
    public void Dispose() => Token.Dispose();
}

/// <summary>The tokens that were passed to an activation. Clients cancel theirs; ids are random, so nobody else's.</summary>
[OfRuntime, Callers(Callers.Everyone)]
internal interface ICancellationSourcesExtension : IGrainExtension
{
    /// <summary>Cancels a token, also one that has not arrived yet.</summary>
    [AlwaysInterleave]
    Task CancelRemoteToken(Guid tokenId);
}

/// <summary>What the extension is for the calls of its own activation.</summary>
internal interface ITokenReceiver
{
    /// <summary>The token of the activation with the id of <paramref name="token"/>.</summary>
    GrainCancellationToken Receive(GrainCancellationToken token);
}
