using Orleans.Runtime;

namespace Orleans;

/// <summary>Extensions of an activation.</summary>
public static class GrainContextComponentExtensions
{
    /// <summary>The extension of the activation; made by the services of the silo if it has none yet.</summary>
    /// <exception cref="GrainExtensionNotInstalledException">There is none, and no service makes one.</exception>
    public static TComponent GetGrainExtension<TComponent>(this IGrainContext context)
        where TComponent : class, IGrainExtension
    {
        ArgumentNullException.ThrowIfNull(context);
        return context.GetComponent<IGrainExtensionBinder>() is { } binder
            ? binder.GetExtension<TComponent>()
            : throw new GrainExtensionNotInstalledException("This context takes no extensions.");
    }
}
