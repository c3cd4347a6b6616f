using Orleans.Runtime;

namespace Orleans.Providers;

/// <summary>A provider that takes commands.</summary>
public interface IControllable
{
    /// <summary>Runs a command.</summary>
    Task<object?> ExecuteCommand(int command, object? arg);
}

/// <summary>What a provider uses of its silo or client.</summary>
public interface IProviderRuntime
{
    /// <summary>Makes references to grains.</summary>
    IGrainFactory GrainFactory { get; }

    /// <summary>The services of the host.</summary>
    IServiceProvider ServiceProvider { get; }

    /// <summary>The extension of the calling activation, a new one if it has none.</summary>
    (TExtension Extension, TExtensionInterface ExtensionReference) BindExtension<TExtension, TExtensionInterface>(
        Func<TExtension> newExtensionFunc)
        where TExtension : class, TExtensionInterface
        where TExtensionInterface : class, IGrainExtension;
}
