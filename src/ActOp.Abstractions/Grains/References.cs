using Orleans;
using Orleans.Runtime;

namespace ActOp.Grains;

/// <summary>Finds the reference or the id of anything that can be addressed.</summary>
internal static class References
{
    /// <summary>The reference that stands for <paramref name="target"/>: itself, or that of the activation it belongs to.</summary>
    /// <exception cref="NotSupportedException">It is an observer's own object: only a reference to it can be passed on.</exception>
    /// <exception cref="ArgumentException">It is something else.</exception>
    internal static GrainReference Of(IAddressable target)
    {
        ArgumentNullException.ThrowIfNull(target);
        return target switch
        {
            GrainReference reference => reference,
            IGrainBase grain => ContextOf(grain).GrainReference,
            IGrainObserver => throw new NotSupportedException(
                "An object of type " + target.GetType() + " is an observer and cannot be passed on itself: pass what IGrainFactory.CreateObjectReference returns for it."),
            _ => throw NeitherNor(target),
        };
    }

    /// <summary>The id of the grain, or of what the reference refers to.</summary>
    internal static GrainId IdOf(IAddressable target)
    {
        ArgumentNullException.ThrowIfNull(target);
        return target switch
        {
            GrainReference reference => reference.GrainId,
            IGrainBase grain => ContextOf(grain).GrainId,
            _ => throw NeitherNor(target),
        };
    }

    /// <summary>The reference through another interface.</summary>
    internal static object Cast(IAddressable target, Type interfaceType)
    {
        ArgumentNullException.ThrowIfNull(interfaceType);
        var reference = Of(target);
        if (!interfaceType.IsInterface)
            throw new ArgumentException("A grain can only be referred to through an interface, and " + interfaceType + " is none.", nameof(interfaceType));
        return interfaceType.IsInstanceOfType(reference) ? reference : reference.Shared.CallRuntime.Cast(reference, interfaceType);
    }

    private static IGrainContext ContextOf(IGrainBase grain) =>
        grain.GrainContext ?? throw new InvalidOperationException("This " + grain.GetType().Name + " belongs to no activation.");

    private static ArgumentException NeitherNor(IAddressable target) =>
        new("An object of type " + target.GetType() + " is neither a grain nor a reference to one.", nameof(target));
}
