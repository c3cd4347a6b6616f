using Microsoft.Extensions.DependencyInjection;
using Orleans.Services;

namespace Orleans.Runtime.Services;

/// <summary>What grains use to call a service: on their own silo, on the one that is responsible for a grain, or on any other.</summary>
/// <typeparam name="TGrainService">The interface of the service.</typeparam>
public abstract class GrainServiceClient<TGrainService> : IGrainServiceClient<TGrainService>
    where TGrainService : IGrainService
{
    private readonly IGrainServiceLocator _locator;

    /// <summary>Called with the services of the silo.</summary>
    protected GrainServiceClient(IServiceProvider serviceProvider)
    {
        ArgumentNullException.ThrowIfNull(serviceProvider);
        _locator = serviceProvider.GetRequiredService<IGrainServiceLocator>();
    }

    /// <summary>The grain that calls.</summary>
    /// <exception cref="InvalidOperationException">No grain calls.</exception>
    protected GrainReference CurrentGrainReference => _locator.Current;

    /// <summary>The service that is responsible for a grain.</summary>
    protected TGrainService GetGrainService(GrainId callingGrainId) => GetGrainService(callingGrainId.GetUniformHashCode());

    /// <summary>The service of a silo.</summary>
    protected TGrainService GetGrainService(SiloAddress destination) =>
        (TGrainService)_locator.FindService(typeof(TGrainService), destination);

    /// <summary>The service that is responsible for a hash.</summary>
    protected TGrainService GetGrainService(uint key) => (TGrainService)_locator.FindService(typeof(TGrainService), key);
}
