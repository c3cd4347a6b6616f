using ActOp.Calls;
using ActOp.Runtime.Activations;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Calls;

/// <summary>The extensions that every grain and observer has. They are made on a turn of the activation.</summary>
internal static class BuiltInExtensions
{
    internal static void Add(IServiceCollection services)
    {
        services.AddKeyedTransient<IGrainExtension>(
            typeof(IAsyncEnumerableGrainExtension), static (_, _) => new Enumerations((Activation)CallHost.Current!));
        services.AddKeyedTransient<IGrainExtension>(
            typeof(ICancellationSourcesExtension), static (_, _) => new CancellationSources((Activation)CallHost.Current!));
    }
}
