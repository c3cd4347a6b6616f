using System.ComponentModel;
using System.Runtime.CompilerServices;
using ActOp.Wire;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;

namespace ActOp.Serialization;

/// <summary>
/// The services for the constructors of objects that are read or copied: of the message, or, where that does not say, of the latest silo,
/// client or serializer that has the service. Called by the generated codecs of classes with such a constructor.
/// </summary>
/// <remarks>Of one thread. An object that contains another enters again and leaves to the services before, also if it throws.</remarks>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class ConstructionServices
{
    [ThreadStatic]
    private static IServiceProvider? t_services;

    /// <summary>Objects of a message are made from here on.</summary>
    /// <returns>For <see cref="Leave"/>.</returns>
    public static IServiceProvider? Enter(WireSession session)
    {
        ArgumentNullException.ThrowIfNull(session);
        return Enter(session.CodecProvider);
    }

    /// <summary>Objects are copied from here on.</summary>
    /// <returns>For <see cref="Leave"/>.</returns>
    public static IServiceProvider? Enter(CopyContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        return Enter(context.Codecs);
    }

    /// <summary>The end of what was entered.</summary>
    public static void Leave(IServiceProvider? before) => t_services = before;

    /// <summary>The service.</summary>
    /// <exception cref="SerializerException">No services have it.</exception>
    public static TService Get<TService>()
        where TService : notnull
    {
        if (t_services is { } services && services.GetService<TService>() is { } own)
            return own;
        foreach (var provider in CodecScopes.Live())
        {
            try
            {
                if (provider.Services.GetService<TService>() is { } found)
                    return found;
            }
            catch (ObjectDisposedException)
            {
                // Its host has ended.
            }
        }

        throw new SerializerException(
            "A constructor with [GeneratedActivatorConstructor] asks for the service " + typeof(TService) + ", which nobody has added.");
    }

    private static IServiceProvider? Enter(object? codecs)
    {
        var before = t_services;
        t_services = (codecs as ICodecScope)?.Services;
        return before;
    }
}

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
    private static readonly ConditionalWeakTable<ICodecScope, THook> Made = [];

    /// <summary>The hooks for a message.</summary>
    public static THook Of(WireSession session)
    {
        ArgumentNullException.ThrowIfNull(session);
        return MadeFor(session.CodecProvider);
    }

    /// <summary>The hooks for a copy.</summary>
    public static THook Of(CopyContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        return MadeFor(context.Codecs);
    }

    private static THook MadeFor(object? codecs) => Made.GetValue(
        codecs as ICodecScope ?? CodecScopes.Latest,
        static provider => ActivatorUtilities.GetServiceOrCreateInstance<THook>(provider.Services));
}
