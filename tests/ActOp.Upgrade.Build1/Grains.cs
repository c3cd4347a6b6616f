using Microsoft.Extensions.Options;
using Orleans.Configuration;

namespace ActOp.Upgrade;

/// <inheritdoc cref="IAccountGrain"/>
public sealed class AccountGrain(IOptions<EndpointOptions> endpoints) : Grain, IAccountGrain
{
#if BUILD2
    private const int Build = 2;
#else
    private const int Build = 1;
#endif
    private BookingKind _last;

    /// <inheritdoc/>
    public async Task<Balance> Book(Booking booking)
    {
        // A turn that gives up its thread in between, so that a stop meets calls under way.
        await Task.Yield();
        _last = booking.Kind;
        return Now();
    }

    /// <inheritdoc/>
    public ValueTask<Balance> Read() => new(Now());

#if BUILD2
    /// <inheritdoc/>
    public async Task<int> BookAll(Item[] items)
    {
        await Task.Yield();
        _last = BookingKind.Gift;
        return items.OfType<GiftItem>().Count();
    }

    private Balance Now() => new() { Port = endpoints.Value.SiloPort, Build = Build, Last = _last, Notes = ["a", "b"] };
#else
    private Balance Now() => new() { Port = endpoints.Value.SiloPort, Build = Build, Last = _last };
#endif
}

#if BUILD2
/// <inheritdoc cref="IAuditGrain"/>
public sealed class AuditGrain : Grain, IAuditGrain
{
    /// <inheritdoc/>
    public async Task<int> Check(long account) => (await GrainFactory.GetGrain<IAccountGrain>(account).Read()).Build;
}
#endif
