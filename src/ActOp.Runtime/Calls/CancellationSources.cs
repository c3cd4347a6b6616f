using ActOp.Runtime.Activations;
using Orleans;

namespace ActOp.Runtime.Calls;

/// <summary>The <see cref="GrainCancellationToken"/>s that were passed to one activation, by their ids.</summary>
/// <remarks>
/// On the turns of the activation. A token is kept as long as its grain keeps it, that is, by a weak reference. That of a cancellation
/// which has overtaken its call is kept for a response timeout. Both are looked through whenever the table has grown to twice its size.
/// </remarks>
internal sealed class CancellationSources(Activation activation) : ICancellationSourcesExtension, ITokenReceiver
{
    private const int LeastLimit = 64;

    private readonly Dictionary<Guid, Entry> _tokens = [];
    private int _limit = LeastLimit;

    public Task CancelRemoteToken(Guid tokenId)
    {
        if (_tokens.TryGetValue(tokenId, out var entry) && entry.Token.TryGetTarget(out var token))
            return token.CancelAsync();
        Keep(new GrainCancellationToken(tokenId, isCancelled: true), overtook: true);
        return Task.CompletedTask;
    }

    public GrainCancellationToken Receive(GrainCancellationToken token)
    {
        if (_tokens.TryGetValue(token.Id, out var entry) && entry.Token.TryGetTarget(out var known))
            return known;
        Keep(token, overtook: false);
        return token;
    }

    private void Keep(GrainCancellationToken token, bool overtook)
    {
        var now = activation.Parts.Local.Clock.Now;
        if (_tokens.Count >= _limit)
            Drop(now - (long)activation.Parts.Local.ResponseTimeout.TotalMilliseconds);
        _tokens[token.Id] = new Entry(new WeakReference<GrainCancellationToken>(token), overtook ? token : null, now);
    }

    private void Drop(long before)
    {
        foreach (var (id, entry) in _tokens)
        {
            if (!entry.Token.TryGetTarget(out _) || (entry.Kept is not null && entry.Since < before))
                _tokens.Remove(id);
        }

        _limit = Math.Max(LeastLimit, 2 * _tokens.Count);
    }

    private readonly record struct Entry(WeakReference<GrainCancellationToken> Token, GrainCancellationToken? Kept, long Since);
}
