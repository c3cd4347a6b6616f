using System.Reflection;
using ActOp.Runtime.Activations;
using Orleans;
using Orleans.Runtime;
using Orleans.Serialization.Invocation;

namespace ActOp.Runtime.Calls;

/// <summary>An incoming call on its way through the silo's filters, the grain's own filter and the method.</summary>
internal sealed class IncomingCallContext(Activation activation, RequestBase request, IIncomingGrainCallFilter[] filters) : GrainCallContext(request), IIncomingGrainCallContext
{
    private MethodInfo? _implementation;
    private int _stage;

    public override object Grain => activation.Instance!;

    public IGrainContext TargetContext => activation;

    public MethodInfo ImplementationMethod => _implementation ??= FindImplementation();

    public override async Task Invoke()
    {
        var stage = _stage;
        try
        {
            if (stage < filters.Length)
            {
                _stage = stage + 1;
                await filters[stage].Invoke(this);
            }
            else if (stage == filters.Length && activation.Instance is IIncomingGrainCallFilter own)
            {
                _stage = stage + 1;
                await own.Invoke(this);
            }
            else
            {
                Response = await Request.Invoke();
                if (Response.Exception is { } exception)
                    System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(exception);
            }
        }
        finally
        {
            _stage = stage;
        }
    }

    private MethodInfo FindImplementation()
    {
        var method = InterfaceMethod;
        var type = activation.Instance!.GetType();
        if (method.DeclaringType is not { IsInterface: true } declaring || !declaring.IsAssignableFrom(type))
            return method;
        var map = type.GetInterfaceMap(declaring);
        var definition = method.IsGenericMethod ? method.GetGenericMethodDefinition() : method;
        var index = Array.FindIndex(map.InterfaceMethods, candidate => candidate == definition);
        if (index < 0)
            return method;
        var implementation = map.TargetMethods[index];
        return method.IsGenericMethod ? implementation.MakeGenericMethod(method.GetGenericArguments()) : implementation;
    }
}
