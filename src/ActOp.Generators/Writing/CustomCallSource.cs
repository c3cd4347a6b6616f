using ActOp.Generators.Model;

namespace ActOp.Generators.Writing;

/// <summary>
/// Writes the two classes of a method whose request has a base class of the application: the request, and the call that carries it. If
/// references do not send through the runtime, only the request.
/// </summary>
internal static class CustomCallSource
{
    private const string Cancellation = "global::ActOp.Calls.CallCancellation _cancellation";

    /// <summary>Writes the classes.</summary>
    /// <param name="text">Where to.</param>
    /// <param name="call">The method.</param>
    /// <param name="custom">Its request.</param>
    public static void Write(SourceText text, CallModel call, CustomModel custom)
    {
        var name = Reading.InterfaceReader.RequestPrefix + call.ClassName;
        var self = name + call.TypeParameters;
        text.Line(CallSource.Hidden);
        text.Line(SourceText.MayUseObsolete);
        text.Open(call.Accessibility + " sealed class " + self + " : " + custom.Base
            + (custom.IsSent ? ", global::ActOp.Calls.ICustomRequest" : "") + call.Constraints);
        CallSource.WriteMethod(text, call, "internal");
        text.Line("private " + call.InterfaceType + " _target;");
        if (call.TokenIndex >= 0 && custom.IsSent)
            text.Line("private global::ActOp.Calls.CallCancellation _carried;");
        for (var i = 0; i < call.Arguments.Length; i++)
            text.Line("public " + call.Arguments[i].Type + " Arg" + i + ";");
        WriteConstruction(text, call, custom, name, self);
        WriteInvocation(text, call, custom);
        WriteArguments(text, call, custom);
        WriteDescription(text, call, custom);
        if (custom.IsSent)
            WriteTravel(text, call, custom);
        text.Close();
        if (custom.IsSent)
            WriteCall(text, call, self);
    }

    private static void WriteConstruction(SourceText text, CallModel call, CustomModel custom, string name, string self)
    {
        var services = custom.Services.ToArray();
        text.Open("public " + name + "(" + string.Join(", ", services.Select(static (type, i) => type + " base" + i)) + ") : base("
            + string.Join(", ", services.Select(static (_, i) => "base" + i)) + ")");
        if (custom.AddsOptions && (call.Options & 0xF) != 0)
            text.Line("base.AddInvokeMethodOptions((global::Orleans.CodeGeneration.InvokeMethodOptions)" + (call.Options & 0xF) + ");");
        foreach (var initializer in custom.Initializers)
            text.Line(initializer);
        text.Close();
        text.Line("public static " + self + " New(global::System.IServiceProvider services) => new " + self + "("
            + string.Join(", ", services.Select(static type => "global::ActOp.Calls.CustomCall.Service<" + type + ">(services)")) + ");");
    }

    private static void WriteInvocation(SourceText text, CallModel call, CustomModel custom)
    {
        var arguments = string.Join(", ", Enumerable.Range(0, call.Arguments.Length).Select(static i => "Arg" + i));
        var typeArguments = call.MethodTypeParameterNames.Length == 0 ? "" : "<" + string.Join(", ", call.MethodTypeParameterNames) + ">";
        text.Line(custom.InnerModifiers + custom.ReturnType + " InvokeInner() => _target." + CallSource.Escape(call.MethodName)
            + typeArguments + "(" + arguments + ");");
        if (custom.Modifier("Invoke") is { Length: > 0 } modifier)
        {
            text.Open(
                modifier + "async global::System.Threading.Tasks.ValueTask<global::Orleans.Serialization.Invocation.Response> Invoke()");
            text.Open("try");
            text.Line(call.Return switch
            {
                ReturnKind.Void => "InvokeInner();",
                ReturnKind.TaskOf or ReturnKind.ValueTaskOf =>
                    "return global::Orleans.Serialization.Invocation.Response.FromResult(await InvokeInner());",
                _ => "await InvokeInner();",
            });
            if (call.Return is not (ReturnKind.TaskOf or ReturnKind.ValueTaskOf))
                text.Line("return global::Orleans.Serialization.Invocation.Response.Completed;");
            text.Close();
            text.Open("catch (global::System.Exception exception)");
            text.Line("return global::Orleans.Serialization.Invocation.Response.FromException(exception);");
            text.Close().Close();
        }

        Line(text, custom, "GetTarget", "object GetTarget() => _target;");
        if (custom.Modifier("SetTarget") is { Length: > 0 } set)
        {
            CallSource.WriteSetTarget(text, call, set,
                call.Component.Length == 0 && custom.IsExtension ? call.InterfaceType : call.Component);
        }

        if (custom.Modifier("Dispose") is not { Length: > 0 } dispose)
            return;
        text.Open(dispose + "void Dispose()");
        text.Line("_target = null;");
        for (var i = 0; i < call.Arguments.Length; i++)
            text.Line("Arg" + i + " = default;");
        text.Close();
    }

    private static void WriteArguments(SourceText text, CallModel call, CustomModel custom)
    {
        const string OutOfRange = "throw new global::System.ArgumentOutOfRangeException(nameof(index), index, null)";
        Line(text, custom, "GetArgumentCount", "int GetArgumentCount() => " + call.Arguments.Length + ";");
        if (custom.Modifier("GetArgument") is { Length: > 0 } get)
        {
            text.Open(get + "object GetArgument(int index) => index switch");
            for (var i = 0; i < call.Arguments.Length; i++)
                text.Line(i + " => Arg" + i + ",");
            text.Line("_ => " + OutOfRange + ",");
            text.Close("};");
        }

        if (custom.Modifier("SetArgument") is { Length: > 0 } set)
        {
            text.Open(set + "void SetArgument(int index, object value)");
            text.Open("switch (index)");
            for (var i = 0; i < call.Arguments.Length; i++)
                text.Line("case " + i + ": Arg" + i + " = (" + call.Arguments[i].Type + ")value; break;");
            text.Line("default: " + OutOfRange + ";");
            text.Close().Close();
        }

        var takesToken = call.TokenIndex >= 0;
        Line(text, custom, "IsCancellable", "bool IsCancellable => " + (takesToken ? "true;" : "false;"));
        Line(text, custom, "GetCancellationToken", "global::System.Threading.CancellationToken GetCancellationToken() => "
            + (takesToken ? "Arg" + call.TokenIndex + ";" : "default;"));
        Line(text, custom, "TryCancel", "bool TryCancel() => "
            + (takesToken && custom.IsSent ? "_carried is not null && _carried.TryCancel();" : "false;"));
    }

    private static void WriteDescription(SourceText text, CallModel call, CustomModel custom)
    {
        if (custom.IsRequest)
            text.Line("public override global::ActOp.Calls.CallMethod Method => s_method;");
        Line(text, custom, "GetActivityName", "string GetActivityName() => s_method.ActivityName;");
        Line(
            text, custom, "GetDefaultResponseTimeout",
            "global::System.TimeSpan? GetDefaultResponseTimeout() => s_method.ResponseTimeout;");
        Line(text, custom, "GetInterfaceName", "string GetInterfaceName() => s_method.InterfaceName;");
        Line(text, custom, "GetInterfaceType", "global::System.Type GetInterfaceType() => s_method.InterfaceType;");
        Line(text, custom, "GetMethod", "global::System.Reflection.MethodInfo GetMethod() => s_method.Info;");
        Line(text, custom, "GetMethodName", "string GetMethodName() => s_method.Name;");
    }

    private static void WriteTravel(SourceText text, CallModel call, CustomModel custom)
    {
        const string Own = "global::ActOp.Calls.ICustomRequest.";
        text.Line("global::ActOp.Calls.CallMethod " + Own + "Description => s_method;");
        text.Line("global::ActOp.Calls.CustomCall " + Own + "NewCall() => new " + call.ClassName + call.TypeParameters + "();");
        text.Open("void " + Own + "CopyArguments(global::ActOp.Wire.CopyContext context, " + Cancellation + ")");
        for (var i = 0; i < call.Arguments.Length; i++)
        {
            if (call.Arguments[i].IsToken)
                text.Line("Arg" + i + " = (_carried = _cancellation).Isolate(Arg" + i + ");");
            else if (!call.Arguments[i].SkipCopy)
                text.Line("Arg" + i + " = global::ActOp.Wire.Codec<" + call.Arguments[i].Type + ">.Default.Copy(Arg" + i + ", context);");
        }

        text.Close();
        text.Open("void " + Own + "WriteArguments(ref global::ActOp.Wire.WireWriter writer, " + Cancellation + ")");
        for (var i = 0; i < call.Arguments.Length; i++)
            text.Line(Inline.Write(call.Arguments[i], "Arg" + i));
        foreach (var state in custom.State)
            text.Line(Inline.Write(state.Member.Value, Get(state)));
        text.Close();
        text.Open("void " + Own + "ReadArguments(ref global::ActOp.Wire.WireReader reader, " + Cancellation + ")");
        if (call.TokenIndex >= 0)
            text.Line("_carried = _cancellation;");
        for (var i = 0; i < call.Arguments.Length; i++)
            text.Line("Arg" + i + " = " + Inline.Read(call.Arguments[i]) + ";");
        foreach (var state in custom.State)
            text.Line(Set(state) + " = " + Inline.Read(state.Member.Value) + ";");
        text.Close();
        foreach (var state in custom.State.Where(static s => !s.Member.IsDirect || !s.Member.IsSettable))
        {
            text.Line("[global::System.Runtime.CompilerServices.UnsafeAccessor("
                + "global::System.Runtime.CompilerServices.UnsafeAccessorKind.Field, Name = "
                + SourceText.Quote(state.Member.Field) + ")]");
            text.Line("private static extern ref " + state.Member.Value.Type + " " + Field(state) + "(" + state.Owner + " value);");
        }
    }

    private static void WriteCall(SourceText text, CallModel call, string request)
    {
        text.Line(CallSource.Hidden);
        text.Line(SourceText.MayUseObsolete);
        text.Open(call.Accessibility + " sealed class " + call.ClassName + call.TypeParameters + " : global::ActOp.Calls.CustomCall"
            + call.Constraints);
        text.Open("public " + call.ClassName + "() : base(" + (call.TokenIndex >= 0 ? "true" : "false") + ")").Close();
        text.Line("protected override global::ActOp.Calls.CallMethod Description => " + request + ".s_method;");
        text.Line("protected override global::ActOp.Calls.ICustomRequest Create(global::System.IServiceProvider services) => " + request
            + ".New(services);");
        text.Close();
    }

    private static void Line(SourceText text, CustomModel custom, string name, string code)
    {
        if (custom.Modifier(name) is { Length: > 0 } modifier)
            text.Line(modifier + code);
    }

    private static string Get(CustomStateModel state) => state.Member.IsDirect ? "base.@" + state.Member.Name : Field(state) + "(this)";

    private static string Set(CustomStateModel state) => state.Member.IsSettable ? "base.@" + state.Member.Name : Field(state) + "(this)";

    private static string Field(CustomStateModel state) =>
        "Field_" + Reading.TypeText.Mangle(state.Owner) + "_" + Reading.TypeText.Mangle(state.Member.Name);
}
