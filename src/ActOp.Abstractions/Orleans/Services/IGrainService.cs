namespace Orleans.Services;

/// <summary>A service that every silo runs, each for a part of the grains.</summary>
public interface IGrainService : ISystemTarget
{
}

/// <summary>What grains use to call the service that is responsible for them.</summary>
/// <typeparam name="TGrainService">The service.</typeparam>
public interface IGrainServiceClient<TGrainService>
    where TGrainService : IGrainService
{
}
