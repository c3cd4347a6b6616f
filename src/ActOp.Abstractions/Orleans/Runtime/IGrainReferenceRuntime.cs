using Orleans.CodeGeneration;
using Orleans.Serialization.Invocation;

namespace Orleans.Runtime;

/// <summary>Sends requests by references. A service of silos and clients, for request classes of the application.</summary>
public interface IGrainReferenceRuntime
{
    /// <summary>A reference to the same grain through another interface.</summary>
    /// <param name="grain">A reference, or a grain.</param>
    /// <param name="interfaceType">A grain interface.</param>
    object Cast(IAddressable grain, Type interfaceType);

    /// <summary>Sends a request that nobody waits for.</summary>
    /// <param name="reference">The grain.</param>
    /// <param name="request">A generated request, used for one call only.</param>
    /// <param name="options">Options of this call, beside those of its method.</param>
    void InvokeMethod(GrainReference reference, IInvokable request, InvokeMethodOptions options);

    /// <summary>Sends a request and waits for its end.</summary>
    /// <inheritdoc cref="InvokeMethod"/>
    ValueTask InvokeMethodAsync(GrainReference reference, IInvokable request, InvokeMethodOptions options);

    /// <summary>Sends a request and waits for its result.</summary>
    /// <typeparam name="T">The result in the response of the request.</typeparam>
    /// <exception cref="InvalidCastException">The result is of another type.</exception>
    /// <inheritdoc cref="InvokeMethod"/>
    ValueTask<T?> InvokeMethodAsync<T>(GrainReference reference, IInvokable request, InvokeMethodOptions options);
}
