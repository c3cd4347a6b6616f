using System.ComponentModel;
using ActOp.Wire;
using Microsoft.Extensions.DependencyInjection;
using Orleans.CodeGeneration;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace ActOp.Calls;

/// <summary>
/// A request whose base class belongs to the application: what generated code adds to it, so that a <see cref="CustomCall"/> can carry it.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public interface ICustomRequest : IInvokable
{
    /// <summary>The method of the interface.</summary>
    CallMethod Description { get; }

    /// <summary>A call without a request, for requests of this class.</summary>
    CustomCall NewCall();

    /// <summary>Deep-copies the arguments in place.</summary>
    void CopyArguments(CopyContext context, CallCancellation? cancellation);

    /// <summary>Writes the arguments, and the members with ids of the application's base classes.</summary>
    void WriteArguments(ref WireWriter writer, CallCancellation? cancellation);

    /// <summary>Reads what <see cref="WriteArguments"/> has written.</summary>
    void ReadArguments(ref WireReader reader, CallCancellation? cancellation);
}

/// <summary>
/// Carries a request of the application (<see cref="ICustomRequest"/>) through the path of a call. Generated code derives one class for
/// each method whose request class is the application's.
/// </summary>
/// <remarks>
/// <para>Holds the request, from <see cref="ForRequest"/> or <see cref="ReadArguments"/> until <see cref="Recycle"/>. A call that stays in
/// this process has the request of the caller itself. Is not pooled: the request may keep references to what it got.</para>
/// <para>The result travels as an object with its type, because only the request knows which type its method brings. If the request throws
/// instead of returning a response, the caller gets that exception; a request that never ends is a method that never ends.</para>
/// </remarks>
[EditorBrowsable(EditorBrowsableState.Never)]
public abstract class CustomCall : ResultRequest<object?>
{
    private readonly CallCancellation? _cancellation;
    private ICustomRequest? _request;
    private CallMethod? _method;
    private CancellationToken? _token;
    private ValueTask<Response> _running;

    /// <summary>Called by generated code.</summary>
    /// <param name="takesToken">The method takes a token.</param>
    protected CustomCall(bool takesToken) => _cancellation = takesToken ? new CallCancellation(this) : null;

    /// <inheritdoc/>
    public sealed override CallMethod Method => _method ?? Description;

    /// <inheritdoc/>
    public sealed override CallCancellation? Cancellation => _cancellation;

    /// <inheritdoc/>
    public sealed override bool IsCancellable => _cancellation is not null;

    /// <inheritdoc cref="ICustomRequest.Description"/>
    protected abstract CallMethod Description { get; }

    /// <summary>The request, as filters and the predicate of [MayInterleave] see it.</summary>
    internal sealed override IInvokable Visible => Request;

    private ICustomRequest Request => _request ?? throw new InvalidOperationException("The call has no request.");

    /// <inheritdoc/>
    public sealed override int GetArgumentCount() => Request.GetArgumentCount();

    /// <inheritdoc/>
    public sealed override object? GetArgument(int index) => Request.GetArgument(index);

    /// <inheritdoc/>
    public sealed override void SetArgument(int index, object value) => Request.SetArgument(index, value);

    /// <summary>The token of the caller; at the callee, that of the method.</summary>
    public sealed override CancellationToken GetCancellationToken() => _token ?? Request.GetCancellationToken();

    /// <inheritdoc/>
    public sealed override bool TryCancel() => _cancellation?.TryCancel() == true;

    /// <inheritdoc/>
    public sealed override object? GetTarget() => Request.GetTarget();

    /// <inheritdoc/>
    public sealed override void SetTarget(ITargetHolder holder) => Request.SetTarget(holder);

    /// <inheritdoc/>
    public sealed override ValueTask<Response> Invoke() => Request.Invoke();

    /// <inheritdoc/>
    public sealed override void CopyArguments(CopyContext context) => Request.CopyArguments(context, _cancellation);

    /// <inheritdoc/>
    public sealed override void WriteArguments(ref WireWriter writer) => Request.WriteArguments(ref writer, _cancellation);

    /// <inheritdoc/>
    public sealed override void ReadArguments(ref WireReader reader)
    {
        _request = Create(Runtime!.Services);
        _request.ReadArguments(ref reader, _cancellation);
    }

    /// <inheritdoc/>
    public sealed override void Recycle()
    {
        if (!ResetForReuse())
            return;
        _request = null;
        _method = null;
        _token = null;
        _running = default;
        ResetResult();
        _cancellation?.Reset();
    }

    /// <summary>The services of the silo or client of a reference. Called by generated code.</summary>
    public static IServiceProvider ServicesOf(GrainReference reference)
    {
        ArgumentNullException.ThrowIfNull(reference);
        return reference.Shared.ServiceProvider;
    }

    /// <summary>A service for the constructor of a request. Called by generated code.</summary>
    /// <exception cref="InvalidOperationException">There is no such service.</exception>
    public static TService Service<TService>(IServiceProvider services)
        where TService : notnull => services.GetRequiredService<TService>();

    /// <summary>A request without arguments, its constructor's services from <paramref name="services"/>.</summary>
    protected abstract ICustomRequest Create(IServiceProvider services);

    /// <summary>A call that carries a request.</summary>
    internal static CustomCall ForRequest(ICustomRequest request)
    {
        var call = request.NewCall();
        call.SetRequest(request);
        return call;
    }

    /// <summary>A call with the same request: filters may send a request several times.</summary>
    internal CustomCall Twin()
    {
        var twin = Request.NewCall();
        twin._request = _request;
        twin._method = _method;
        twin._token = _token;
        return twin;
    }

    internal sealed override bool Start()
    {
        try
        {
            var running = Request.Invoke();
            if (running.IsCompleted)
            {
                SetOutcome(running.GetAwaiter().GetResult());
                return true;
            }

            _running = running;
        }
        catch (Exception exception)
        {
            Error = exception;
            return true;
        }

        // With the activation's context, as for every request.
        _running.GetAwaiter().UnsafeOnCompleted(OnEnd);
        return false;
    }

    internal sealed override void TakeResult()
    {
        var running = _running;
        _running = default;
        try
        {
            SetOutcome(running.GetAwaiter().GetResult());
        }
        catch (Exception exception)
        {
            Error = exception;
        }
    }

    private void SetRequest(ICustomRequest request)
    {
        _request = request;
        if (_cancellation is not null)
            _token = request.GetCancellationToken();
        var timeout = request.GetDefaultResponseTimeout();
        if (timeout != Description.ResponseTimeout)
            _method = Description.With(timeout);
    }

    private void SetOutcome(Response response)
    {
        Error = response.Exception;
        if (Error is null)
            Result = response.Result;
    }
}

/// <summary>Sends requests as applications do: by a reference and a request. Has no state; any thread.</summary>
/// <param name="calls">The calls of the silo or client.</param>
internal sealed class ReferenceRuntime(CallRuntime calls) : IGrainReferenceRuntime
{
    public object Cast(IAddressable grain, Type interfaceType)
    {
        ArgumentNullException.ThrowIfNull(interfaceType);
        var reference = References.ReferenceOf(grain);
        return interfaceType.IsInstanceOfType(reference) ? reference : calls.Cast(reference, interfaceType);
    }

    public void InvokeMethod(GrainReference reference, IInvokable request, InvokeMethodOptions options) =>
        CallOf(reference, request).Post(reference, options);

    public async ValueTask InvokeMethodAsync(GrainReference reference, IInvokable request, InvokeMethodOptions options) =>
        await CallOf(reference, request).SendBoxed(reference, options);

    public async ValueTask<T?> InvokeMethodAsync<T>(GrainReference reference, IInvokable request, InvokeMethodOptions options)
    {
        return await CallOf(reference, request).SendBoxed(reference, options) switch
        {
            T result => result,
            null => default,
            var other => throw new InvalidCastException(
                "The answer of " + request.GetActivityName() + " is a " + other.GetType() + " and no " + typeof(T) + "."),
        };
    }

    private static RequestBase CallOf(GrainReference reference, IInvokable request)
    {
        ArgumentNullException.ThrowIfNull(reference);
        return request switch
        {
            null => throw new ArgumentNullException(nameof(request)),
            ICustomRequest custom => CustomCall.ForRequest(custom),
            RequestBase call => call,
            _ => throw new ArgumentException(
                "The request " + request.GetType() + " cannot be sent: no code was generated for it.", nameof(request)),
        };
    }
}
