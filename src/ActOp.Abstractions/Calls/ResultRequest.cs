using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Threading.Tasks.Sources;
using ActOp.Wire;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace ActOp.Calls;

/// <summary>A call with its typed result; it is its own value task source.</summary>
/// <typeparam name="TResult">The method's result; <see cref="NoResult"/> for methods without one.</typeparam>
public abstract class ResultRequest<TResult> : RequestBase, IValueTaskSource<TResult>, IValueTaskSource
{
    private protected TResult? Result;
    private AsyncTaskMethodBuilder<TResult> _task;
    private Action? _onEnd;

    /// <summary>The callback for a method that ends asynchronously: one delegate for the life of the pooled object.</summary>
    private protected Action OnEnd => _onEnd ??= End;

    internal override void CopyResult(CopyContext context)
    {
        if (Error is null && !Codec<TResult>.Default.IsImmutable && (Flags & ImmutableResult) == 0)
            Result = Codec<TResult>.Default.Copy(Result!, context);
    }

    internal override void WriteResult(ref WireWriter writer) => Codec<TResult>.Default.Write(ref writer, Result!);

    internal override void ReadResult(ref WireReader reader) => Result = Codec<TResult>.Default.Read(ref reader);

    internal override object? BoxedResult
    {
        get => Result;
        set => Result = value is null ? default : (TResult)value;
    }

    internal Response ToResponse() => Error is { } error ? Response.FromException(error) : Response.FromResult(Result!);

    internal override async ValueTask<object?> RouteBoxed(Action<Call, object> route, object state)
    {
        var answer = new ValueTask<TResult>(this, (short)Version);
        route(this, state);
        return await answer;
    }

    internal override void CompleteTask()
    {
        var builder = _task;
        var error = Outcome;
        if (Began != 0)
            Runtime!.Answered(this, error);
        var result = Result;
        _task = default;
        Release();
        if (error is null)
            builder.SetResult(result!);
        else
            builder.SetException(error);
    }

    /// <summary>Sends the call; the answer completes the value task. Called by generated references.</summary>
    public ValueTask<TResult> SendValue(GrainReference reference)
    {
        var version = (short)Version;
        Dispatch(reference);
        return new ValueTask<TResult>(this, version);
    }

    /// <summary>Sends the call; the answer completes the value task. Called by generated references.</summary>
    public ValueTask SendPlainValue(GrainReference reference)
    {
        var version = (short)Version;
        Dispatch(reference);
        return new ValueTask(this, version);
    }

    /// <summary>Sends the call; the answer completes the task. Called by generated references.</summary>
    public Task<TResult> SendTask(GrainReference reference)
    {
        AnswersTask = true;
        _task = AsyncTaskMethodBuilder<TResult>.Create();
        var task = _task.Task;
        Dispatch(reference);
        return task;
    }

    TResult IValueTaskSource<TResult>.GetResult(short token) => TakeResult(token)!;

    void IValueTaskSource.GetResult(short token) => TakeResult(token);

    ValueTaskSourceStatus IValueTaskSource<TResult>.GetStatus(short token) => Status(token);

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => Status(token);

    void IValueTaskSource<TResult>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
            OnCompleted(continuation, state, token, flags);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        OnCompleted(continuation, state, token, flags);

    /// <summary>Clears the generated fields and returns the object to its pool.</summary>
    [System.ComponentModel.EditorBrowsable(System.ComponentModel.EditorBrowsableState.Never)]
    protected void ResetResult() => Result = default;

    private TResult? TakeResult(short token)
    {
        CheckToken(token);
        if (!IsClaimed)
            throw new InvalidOperationException("The value task of a grain call was asked for its result before it completed.");
        var error = Outcome;
        if (Began != 0)
            Runtime!.Answered(this, error);
        var result = Result;
        Release();
        if (error is not null)
            ExceptionDispatchInfo.Throw(error);
        return result;
    }

    private void Release()
    {
        Result = default;
        Recycle();
    }

    private ValueTaskSourceStatus Status(short token) =>
        !HasCompleted(token) ? ValueTaskSourceStatus.Pending
        : Outcome is not { } error ? ValueTaskSourceStatus.Succeeded
        : error is OperationCanceledException ? ValueTaskSourceStatus.Canceled
        : ValueTaskSourceStatus.Faulted;

    private void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags)
    {
        if ((flags & ValueTaskSourceOnCompletedFlags.FlowExecutionContext) != 0 && ExecutionContext.Capture() is { } context)
            (continuation, state) = Flow(context, continuation, state);
        Await(continuation, state, token, (flags & ValueTaskSourceOnCompletedFlags.UseSchedulingContext) != 0);
    }

    // A method of its own: its closure would be allocated for every await otherwise.
    private static (Action<object?> Continuation, object? State) Flow(
        ExecutionContext context, Action<object?> continuation, object? state) =>
        (boxed => ExecutionContext.Run(context, static inner =>
        {
            var (action, argument) = ((Action<object?>, object?))inner!;
            action(argument);
        }, boxed), (continuation, state));

    /// <summary>
    /// Sends the call without waiting for an answer beyond what its options say. Called by generated references of void methods.
    /// </summary>
    public void SendVoid(GrainReference reference)
    {
        Flags |= Orleans.CodeGeneration.InvokeMethodOptions.OneWay;
        Dispatch(reference);
    }

    private void End()
    {
        var callee = Callee!;
        Step = CallStep.Finish;
        if (ReferenceEquals(CallHost.Current, callee))
            callee.FinishInTurn(this);
        else
            callee.Enqueue(this);
    }
}

/// <summary>The result of a method that has none.</summary>
public readonly struct NoResult;
