using System.ComponentModel;
using System.Runtime.CompilerServices;
using ActOp.Serialization.Bridging;
using ActOp.Wire;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization.Serializers;

namespace ActOp.Serialization;

/// <summary>
/// The objects of a class with hooks whose constructor asks for services: one for each silo, client or serializer, as long as that lives.
/// Where a message or a copy does not say whose it is, the latest one serves. Called by generated code.
/// </summary>
/// <remarks>Any thread.</remarks>
/// <typeparam name="THook">The class that [SerializationCallbacks] names.</typeparam>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class ServiceHook<THook>
    where THook : class
{
    private static readonly ConditionalWeakTable<CodecProvider, THook> Made = [];

    /// <summary>The hooks for a message.</summary>
    public static THook Of(WireSession session)
    {
        ArgumentNullException.ThrowIfNull(session);
        return Of(session.CodecProvider);
    }

    /// <summary>The hooks for a copy.</summary>
    public static THook Of(CopyContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        return Of(context.Codecs);
    }

    private static THook Of(object? codecs) => Made.GetValue(
        codecs as CodecProvider ?? Bridge.Latest,
        static provider => ActivatorUtilities.GetServiceOrCreateInstance<THook>(provider.Services));
}
