using System.Runtime.CompilerServices;
using ActOp.TestClusters;
using Orleans.Invocation;
using Orleans.Serialization.Invocation;

namespace ActOp.Calls.Tests.Requests;

/// <summary>An awaitable of the application.</summary>
[InvokableBaseType(typeof(GrainReference), typeof(Promise<>), typeof(PromiseRequest<>))]
[InvokableBaseType(typeof(GrainReference), typeof(Promise<long>), typeof(DoublingRequest))]
public sealed class Promise<T>(Task<T?> task)
{
    public Task<T?> Task => task;

    public TaskAwaiter<T?> GetAwaiter() => task.GetAwaiter();
}

[SerializerTransparent]
[ReturnValueProxy(nameof(Start))]
[method: GeneratedActivatorConstructor]
public abstract class PromiseRequest<T>(IGrainReferenceRuntime runtime) : RequestBase
{
    [NonSerialized]
    private readonly IGrainReferenceRuntime _runtime = runtime;

    public Promise<T> Start(GrainReference reference) => new(_runtime.InvokeMethodAsync<T>(reference, this, Options).AsTask());

    public override async ValueTask<Response> Invoke()
    {
        try
        {
            return Response.FromResult(await InvokeInner());
        }
        catch (Exception exception)
        {
            return Response.FromException(exception);
        }
    }

    protected abstract Promise<T> InvokeInner();
}

/// <summary>The exact mapping for one result: the caller gets twice what the grain has said.</summary>
[ReturnValueProxy(nameof(Start))]
[method: GeneratedActivatorConstructor]
public abstract class DoublingRequest(IGrainReferenceRuntime runtime) : RequestBase
{
    public Promise<long> Start(GrainReference reference) => new(Twice(runtime.InvokeMethodAsync<long>(reference, this, Options)));

    public override async ValueTask<Response> Invoke() => Response.FromResult(await InvokeInner());

    protected abstract Promise<long> InvokeInner();

    private static async Task<long> Twice(ValueTask<long> call) => 2 * await call;
}

/// <summary>An attribute of the application that gives methods its request class, with a setting and something that travels.</summary>
[InvokableCustomInitializer(nameof(StampedRequest<int>.SetPrefix))]
[InvokableBaseType(typeof(GrainReference), typeof(Task<>), typeof(StampedRequest<>))]
[AttributeUsage(AttributeTargets.Method)]
public sealed class StampedAttribute(string prefix) : Attribute
{
    public string Prefix => prefix;
}

[GenerateSerializer]
public abstract class StampedRequest<T> : RequestBase
{
    [NonSerialized]
    private string? _prefix;

    [Id(0)]
    public string? Stamp { get; set; }

    [Id(1)]
    protected Guid Number { get; set; } = Guid.NewGuid();

    public Guid Shown => Number;

    public void SetPrefix(string prefix)
    {
        _prefix = prefix;
        Stamp = RequestContext.Get("stamp") as string;
    }

    public override async ValueTask<Response> Invoke()
    {
        try
        {
            var result = await InvokeInner();
            return Response.FromResult(_prefix + ":" + Stamp + ":" + result + ":" + Number);
        }
        catch (Exception exception)
        {
            return Response.FromException(exception);
        }
    }

    protected abstract Task<T> InvokeInner();
}

/// <summary>A method with a request class that derives from an ordinary one: the work of the method is wrapped.</summary>
[InvokableBaseType(typeof(GrainReference), typeof(ValueTask<>), typeof(HurriedRequest<>))]
[AttributeUsage(AttributeTargets.Method)]
public sealed class HurriedAttribute : Attribute;

public abstract class HurriedRequest<T> : Request<T>
{
    public override TimeSpan? GetDefaultResponseTimeout() => TimeSpan.FromMilliseconds(300);
}

/// <summary>A method whose requests are filters of their own calls: the caller signs, and the callee sees the signature.</summary>
[InvokableBaseType(typeof(GrainReference), typeof(Task<>), typeof(SignedRequest<>))]
[AttributeUsage(AttributeTargets.Method)]
public sealed class SignedAttribute : Attribute;

public abstract class SignedRequest<T> : RequestBase, IOutgoingGrainCallFilter
{
    [Id(0)]
    public string? Signature { get; set; }

    async Task IOutgoingGrainCallFilter.Invoke(IOutgoingGrainCallContext context)
    {
        Signature = "signed " + context.MethodName;
        await context.Invoke();
        context.Result += "!";
    }

    public override async ValueTask<Response> Invoke()
    {
        try
        {
            return Response.FromResult<object>(Signature + ": " + await InvokeInner());
        }
        catch (Exception exception)
        {
            return Response.FromException(exception);
        }
    }

    protected abstract Task<T> InvokeInner();
}

/// <summary>The same with a request that adds nothing but the filter.</summary>
[InvokableBaseType(typeof(GrainReference), typeof(Task<>), typeof(GuardedRequest<>))]
[AttributeUsage(AttributeTargets.Method)]
public sealed class GuardedAttribute : Attribute;

public abstract class GuardedRequest<T> : TaskRequest<T>, IOutgoingGrainCallFilter
{
    async Task IOutgoingGrainCallFilter.Invoke(IOutgoingGrainCallContext context)
    {
        try
        {
            await context.Invoke();
        }
        catch (FormatException exception)
        {
            context.Result = "guarded: " + exception.Message;
        }
    }
}

[GenerateSerializer]
public sealed record Parcel([property: Id(0)] string Text, [property: Id(1)] List<int> Numbers);

public interface IPromising : IGrainWithGuidKey
{
    Promise<int> Add(int left, int right);

    Promise<Parcel> Pack(List<int> numbers);

    Promise<List<int>> Change(List<int> numbers);

    Promise<string> Nothing();

    Promise<int> Fail(string message);

    Promise<long> Half(long value);

    Promise<T> Same<T>(T value);

    Promise<string> Wait(string started, string cancelled, CancellationToken token);

    [Stamped("fragile")]
    Task<string> Stamped(string text);

    [Stamped("fragile")]
    Task<string> FailStamped();

    [Signed]
    Task<string> Signed(string text);

    [Guarded]
    Task<string> Guarded(string? text);

    [OneWay]
    [Stamped("fragile")]
    Task<string> Touch(string gate);

    [Hurried]
    ValueTask<int> Hurry(string gate);

    Task<string> Seat();

    Task<int> AddThere(IPromising other, int left, int right);
}

public interface IPromisingOf<T> : IGrainWithStringKey
{
    Promise<T> Keep(T value);
}

public sealed class PromisingGrain : Grain, IPromising
{
    public Promise<int> Add(int left, int right) => new(Task.FromResult(left + right));

    public Promise<Parcel> Pack(List<int> numbers) => new(Task.FromResult<Parcel?>(new Parcel("packed", numbers)));

    public Promise<List<int>> Change(List<int> numbers)
    {
        numbers.Add(99);
        return new(Task.FromResult<List<int>?>(numbers));
    }

    public Promise<string> Nothing() => new(Task.FromResult<string?>(null));

    public Promise<int> Fail(string message) => throw new InvalidOperationException(message);

    public Promise<long> Half(long value) => new(Task.FromResult(value / 2));

    public Promise<T> Same<T>(T value) => new(Task.FromResult<T?>(value));

    public Promise<string> Wait(string started, string cancelled, CancellationToken token) => new(WaitAsync(started, cancelled, token));

    public Task<string> Stamped(string text) => Task.FromResult(text);

    public Task<string> FailStamped() => throw new FormatException("no stamp");

    public Task<string> Signed(string text) => Task.FromResult(text);

    public Task<string> Guarded(string? text) => text is null ? throw new FormatException("no text") : Task.FromResult(text);

    public Task<string> Touch(string gate)
    {
        Gate.Touch(gate);
        return Task.FromResult(gate);
    }

    public async ValueTask<int> Hurry(string gate)
    {
        await Gate.PassAsync(gate);
        return 1;
    }

    public Task<string> Seat() => Task.FromResult(this.GetSiloIdentity());

    public async Task<int> AddThere(IPromising other, int left, int right) => await other.Add(left, right);

    private static async Task<string?> WaitAsync(string started, string cancelled, CancellationToken token)
    {
        Gate.Touch(started);
        try
        {
            await Task.Delay(Timeout.Infinite, token);
        }
        catch (OperationCanceledException)
        {
            Gate.Touch(cancelled);
            throw;
        }

        return null;
    }

    private string GetSiloIdentity() => ServiceProvider.GetRequiredService<ILocalSiloDetails>().SiloAddress.ToString();
}

public sealed class PromisingOf<T> : Grain, IPromisingOf<T>
{
    public Promise<T> Keep(T value) => new(Task.FromResult<T?>(value));
}

/// <summary>References with a base class of the application, which counts what is sent.</summary>
[DefaultInvokeMethodName(typeof(ValueTask), nameof(CountPlain))]
public abstract class CountingReference : GrainReference
{
    private int _sent;

    protected CountingReference(GrainReferenceShared shared, IdSpan key)
        : base(shared, key)
    {
    }

    public int Sent => _sent;

    protected new ValueTask<T?> InvokeAsync<T>(IRequest request)
    {
        _sent++;
        return base.InvokeAsync<T>(request);
    }

    protected ValueTask CountTen(IRequest request)
    {
        _sent += 10;
        return InvokeAsync(request);
    }

    protected ValueTask CountPlain(IRequest request)
    {
        _sent += 100;
        return InvokeAsync(request);
    }
}

/// <summary>Requests that are sent by another method of the reference.</summary>
[InvokeMethodName("CountTen")]
public abstract class TenRequest : TaskRequest;

[InvokableBaseType(typeof(GrainReference), typeof(Task), typeof(TenRequest))]
[AttributeUsage(AttributeTargets.Method)]
public sealed class TenAttribute : Attribute;

[GenerateMethodSerializers(typeof(CountingReference))]
public interface ISentCounter : IGrainWithIntegerKey
{
    Task<int> Next();

    ValueTask Reset();

    [Ten]
    Task Forward();
}

public sealed class SentCounterGrain : Grain, ISentCounter
{
    private int _value;

    public Task<int> Next() => Task.FromResult(++_value);

    public ValueTask Reset()
    {
        _value = 0;
        return default;
    }

    public Task Forward()
    {
        _value += 10;
        return Task.CompletedTask;
    }
}

/// <summary>Requests that the application sends by itself: nothing of the runtime is used.</summary>
public abstract class LocalRequest : IInvokable
{
    public bool IsCancellable => false;

    public virtual int GetArgumentCount() => 0;

    public virtual object? GetArgument(int index) => throw new ArgumentOutOfRangeException(nameof(index));

    public virtual void SetArgument(int index, object value) => throw new ArgumentOutOfRangeException(nameof(index));

    public CancellationToken GetCancellationToken() => default;

    public TimeSpan? GetDefaultResponseTimeout() => null;

    public abstract string GetActivityName();

    public abstract string GetInterfaceName();

    public abstract Type GetInterfaceType();

    public abstract System.Reflection.MethodInfo GetMethod();

    public abstract string GetMethodName();

    public abstract object? GetTarget();

    public abstract void SetTarget(ITargetHolder holder);

    public abstract ValueTask<Response> Invoke();

    public bool TryCancel() => false;

    public abstract void Dispose();
}

public abstract class LocalRequest<T> : LocalRequest
{
    public override async ValueTask<Response> Invoke()
    {
        try
        {
            return Response.FromResult(await InvokeInner());
        }
        catch (Exception exception)
        {
            return Response.FromException(exception);
        }
    }

    protected abstract Task<T> InvokeInner();
}

public abstract class LocalVoidRequest : LocalRequest
{
    protected abstract void InvokeInner();
}

[DefaultInvokableBaseType(typeof(Task<>), typeof(LocalRequest<>))]
[DefaultInvokableBaseType(typeof(void), typeof(LocalVoidRequest))]
public abstract class LocalProxy(object target) : ITargetHolder
{
    public List<string> Sent { get; } = [];

    public object? GetTarget() => target;

    public object? GetComponent(Type componentType) => null;

    protected TInvokable GetInvokable<TInvokable>()
        where TInvokable : class, IInvokable, new() => new();

    protected async ValueTask<T> InvokeAsync<T>(IInvokable request)
    {
        Sent.Add(request.GetInterfaceName() + "." + request.GetMethodName() + "/" + request.GetArgumentCount());
        request.SetTarget(this);
        using var response = await request.Invoke();
        return response.GetResult<T>();
    }

    protected async ValueTask InvokeAsync(IInvokable request) => await InvokeAsync<object>(request);

    protected void Invoke(IInvokable request) => _ = InvokeAsync(request);
}

[GenerateMethodSerializers(typeof(LocalProxy))]
public interface ILocalService;

public interface ILocalAdder : ILocalService
{
    Task<int> Add(int left, int right);

    Task<T> Same<T>(T value);

    void Tell(List<string> heard);
}

public sealed class LocalAdder : ILocalAdder
{
    public Task<int> Add(int left, int right) => Task.FromResult(left + right);

    public Task<T> Same<T>(T value) => Task.FromResult(value);

    public void Tell(List<string> heard) => heard.Add("told");
}
