using Microsoft.Extensions.DependencyInjection;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>
/// The extensions of an activation: components under their interface, made by the services of the node when the first call arrives. They
/// live as long as the activation. On its turns.
/// </summary>
internal static class Extensions
{
    /// <summary>Makes an extension and keeps it.</summary>
    /// <exception cref="GrainExtensionNotInstalledException">No service makes it.</exception>
    internal static object Make(Activation activation, Type type)
    {
        var services = activation.ActivationServices;
        var made = services.GetKeyedService<IGrainExtension>(type) ?? services.GetService(type);
        if (made is null || !type.IsInstanceOfType(made))
        {
            throw new GrainExtensionNotInstalledException(
                activation.GrainId + " has no extension " + type + ", and no service makes one: see AddGrainExtension.");
        }

        activation.SetComponent(type, made);
        return made;
    }

    /// <summary>The extension of the activation, or a new one, and a reference to it.</summary>
    internal static (TExtension Extension, TInterface Reference) GetOrSet<TExtension, TInterface>(
        Activation activation, Func<TExtension> make)
        where TExtension : class, TInterface
        where TInterface : class, IGrainExtension
    {
        ArgumentNullException.ThrowIfNull(make);
        var reference = activation.GrainReference.Cast<TInterface>();
        if (activation.ExistingExtras?.Components?.TryGetValue(typeof(TInterface), out var existing) != true)
        {
            var made = make();
            activation.SetComponent(typeof(TInterface), made);
            return (made, reference);
        }

        return existing is TExtension extension
            ? (extension, reference)
            : throw new InvalidOperationException(
                activation.GrainId + " has the extension " + existing!.GetType() + " as " + typeof(TInterface) + " already.");
    }
}
