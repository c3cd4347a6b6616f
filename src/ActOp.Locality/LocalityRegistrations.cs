using ActOp.Runtime.Activations;
using Microsoft.Extensions.DependencyInjection;

namespace ActOp.Locality;

/// <summary>The service that nodes make their locality with.</summary>
internal static class LocalityRegistrations
{
    internal static void Add(IServiceCollection services) => services.AddSingleton<ILocalityFactory, Factory>();

    private sealed class Factory : ILocalityFactory
    {
        public ILocality Create(LocalityNeeds needs) => new LocalityService(needs);
    }
}
