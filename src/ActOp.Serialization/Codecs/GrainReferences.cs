using Orleans;
using Orleans.Runtime;

namespace ActOp.Serialization.Codecs;

/// <summary>Finds what stands for a grain that is passed itself.</summary>
internal static class GrainReferences
{
    internal static GrainReference Of(object value, Type interfaceType)
    {
        if (value is not IGrainBase { GrainContext: { } context })
            throw new NotSupportedException("An object of type " + value.GetType() + " cannot be passed as " + interfaceType + ": pass a reference, for observers the one of CreateObjectReference.");
        var reference = context.GrainReference;
        return interfaceType.IsInstanceOfType(reference) ? reference : (GrainReference)reference.Shared.CallRuntime.Cast(reference, interfaceType);
    }
}
