using Orleans.Serialization.Invocation;

namespace Orleans.Runtime;

/// <summary>Adds interfaces to an activation beside the grain's own.</summary>
public interface IGrainExtensionBinder
{
    /// <summary>The extension; made by the services of the silo if the activation has none yet.</summary>
    /// <exception cref="GrainExtensionNotInstalledException">There is none, and no service makes one.</exception>
    TExtensionInterface GetExtension<TExtensionInterface>()
        where TExtensionInterface : class, IGrainExtension;

    /// <summary>The extension, and a reference through which others call it; makes the extension if the activation has none yet.</summary>
    /// <exception cref="InvalidOperationException">The activation has an extension of another class.</exception>
    (TExtension, TExtensionInterface) GetOrSetExtension<TExtension, TExtensionInterface>(Func<TExtension> newExtensionFunc)
        where TExtension : class, TExtensionInterface
        where TExtensionInterface : class, IGrainExtension;
}

/// <summary>Components by their type.</summary>
public static class TargetHolderExtensions
{
    /// <summary>The component of that type, or null.</summary>
    public static TComponent? GetComponent<TComponent>(this ITargetHolder targetHolder)
        where TComponent : class
    {
        ArgumentNullException.ThrowIfNull(targetHolder);
        return targetHolder.GetComponent(typeof(TComponent)) as TComponent;
    }
}
