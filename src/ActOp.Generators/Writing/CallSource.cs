using ActOp.Generators.Model;

namespace ActOp.Generators.Writing;

/// <summary>Writes the call class of a grain method: a pooled request with its arguments.</summary>
internal static class CallSource
{
    public const string Hidden =
        "[global::System.ComponentModel.EditorBrowsable(global::System.ComponentModel.EditorBrowsableState.Never)]";

    public static void Write(SourceText text, CallModel call)
    {
        if (call.Custom is { } custom)
        {
            CustomCallSource.Write(text, call, custom);
            return;
        }

        var self = call.ClassName + call.TypeParameters;
        text.Line(Hidden);
        text.Line(SourceText.MayUseObsolete);
        text.Open(call.Accessibility + " sealed class " + self + " : " + Base(call) + call.Constraints);
        WriteMethod(text, call, "private");
        text.Line("private " + call.InterfaceType + " _target;");
        for (var i = 0; i < call.Arguments.Length; i++)
            text.Line("public " + call.Arguments[i].Type + " Arg" + i + ";");
        text.Line("public override global::ActOp.Calls.CallMethod Method => s_method;");
        text.Line("public override object GetTarget() => _target;");
        WriteSetTarget(text, call, "public override ", call.Component);
        var arguments = string.Join(", ", Enumerable.Range(0, call.Arguments.Length).Select(static i => "Arg" + i));
        var typeArguments = call.MethodTypeParameterNames.Length == 0 ? "" : "<" + string.Join(", ", call.MethodTypeParameterNames) + ">";
        text.Line(
            "protected override " + ReturnType(call) + " InvokeInner() => _target." + Escape(call.MethodName) + typeArguments + "(" +
                arguments + ");");
        if (call.Arguments.All(static a => a.SkipCopy && !a.IsToken && !a.IsGrainToken))
            WriteComparison(text, call);
        if (call.Arguments.Length > 0)
            WriteArguments(text, call);
        if (call.TokenIndex >= 0)
            WriteCancellation(text, call);
        if (call.Return != ReturnKind.AsyncEnumerable)
            WriteRecycle(text, call, self);
        text.Close();
    }

    /// <summary>A keyword as an identifier.</summary>
    public static string Escape(string name) => "@" + name;

    private static string Base(CallModel call) => "global::Orleans.Runtime." + call.Return switch
    {
        ReturnKind.Void => "VoidRequest",
        ReturnKind.Task => "TaskRequest",
        ReturnKind.TaskOf => "TaskRequest<" + call.ResultType + ">",
        ReturnKind.ValueTask => "Request",
        ReturnKind.AsyncEnumerable => "AsyncEnumerableRequest<" + call.ResultType + ">",
        _ => "Request<" + call.ResultType + ">",
    };

    private static string ReturnType(CallModel call) => call.Return switch
    {
        ReturnKind.Void => "void",
        ReturnKind.Task => "global::System.Threading.Tasks.Task",
        ReturnKind.TaskOf => "global::System.Threading.Tasks.Task<" + call.ResultType + ">",
        ReturnKind.ValueTask => "global::System.Threading.Tasks.ValueTask",
        ReturnKind.AsyncEnumerable => "global::System.Collections.Generic.IAsyncEnumerable<" + call.ResultType + ">",
        _ => "global::System.Threading.Tasks.ValueTask<" + call.ResultType + ">",
    };

    private static string Target(string component) =>
        component.Length > 0 ? "holder.GetComponent(typeof(" + component + "))" : "holder.GetTarget()";

    /// <param name="text">Where it is written.</param>
    /// <param name="call">The call.</param>
    /// <param name="modifiers">Those of the method.</param>
    /// <param name="component">The interface of the extension that is called; empty for the grain.</param>
    public static void WriteSetTarget(SourceText text, CallModel call, string modifiers, string component)
    {
        text.Open(modifiers + "void SetTarget(global::Orleans.Serialization.Invocation.ITargetHolder holder)");
        text.Line("_target = (" + call.InterfaceType + ")" + Target(component) + ";");
        for (var i = 0; i < call.Arguments.Length; i++)
        {
            if (call.Arguments[i].IsGrainToken)
                text.Line("Arg" + i + " = global::Orleans.GrainCancellationToken.Arrive(Arg" + i + ", holder);");
        }

        text.Close();
    }

    public static void WriteMethod(SourceText text, CallModel call, string accessibility)
    {
        var types = "new global::System.Type[] { " + string.Join(", ", call.Arguments.Select(static a => "typeof(" + a.Type + ")")) + " }";
        var generics = "new global::System.Type[] { "
            + string.Join(", ", call.MethodTypeParameterNames.Select(static p => "typeof(" + p + ")")) + " }";
        var timeout = call.TimeoutTicks == 0 ? "null" : "global::System.TimeSpan.FromTicks(" + call.TimeoutTicks + "L)";
        List<string> further = [];
        if (call.Arity > 0)
        {
            further.Add("TypeArguments = global::ActOp.Serialization.TypeManifest.NameArguments("
                + string.Join(", ", call.TypeParameterNames.Select(static p => "typeof(" + p + ")")) + ")");
        }

        if (call.Channel.Length > 0)
            further.Add("Channel = " + SourceText.Quote(call.Channel));
        var end = further.Count == 0 ? ";" : " { " + string.Join(", ", further) + " };";

        text.Line(accessibility + " static readonly global::ActOp.Calls.CallMethod s_method = new global::ActOp.Calls.CallMethod(typeof(" +
            call.InterfaceType + "), "
            + SourceText.Quote(call.InterfaceName) + ", " + SourceText.Quote(call.MethodName) + ", " + call.Id +
                "UL, (global::Orleans.CodeGeneration.InvokeMethodOptions)" + call.Options + ", " + timeout
            + ", static () => global::ActOp.Serialization.MethodLookup.Find(typeof(" + call.InterfaceType + "), " +
                SourceText.Quote(call.MethodName) + ", " + generics + ", " + types + "))" + end);
    }

    private static void WriteArguments(SourceText text, CallModel call)
    {
        text.Line("public override int GetArgumentCount() => " + call.Arguments.Length + ";");
        text.Open("public override object GetArgument(int index) => index switch");
        for (var i = 0; i < call.Arguments.Length; i++)
            text.Line(i + " => Arg" + i + ",");
        text.Line("_ => base.GetArgument(index),");
        text.Close("};");
        text.Open("public override void SetArgument(int index, object value)");
        text.Open("switch (index)");
        for (var i = 0; i < call.Arguments.Length; i++)
            text.Line("case " + i + ": Arg" + i + " = (" + call.Arguments[i].Type + ")value; break;");
        text.Line("default: base.SetArgument(index, value); break;");
        text.Close().Close();
        if (call.Arguments.Any(a => !a.SkipCopy || IsCancelled(call, a)))
        {
            text.Open("public override void CopyArguments(global::ActOp.Wire.CopyContext context)");
            for (var i = 0; i < call.Arguments.Length; i++)
            {
                if (IsCancelled(call, call.Arguments[i]))
                {
                    text.Line("Arg" + i + " = _cancellation.Isolate(Arg" + i + ");");
                }
                else if (!call.Arguments[i].SkipCopy)
                {
                    text.Line(
                        "Arg" + i + " = global::ActOp.Wire.Codec<" + call.Arguments[i].Type + ">.Default.Copy(Arg" + i + ", context);");
                }
            }

            text.Close();
        }

        text.Open("public override void WriteArguments(ref global::ActOp.Wire.WireWriter writer)");
        for (var i = 0; i < call.Arguments.Length; i++)
        {
            if (IsSent(call, call.Arguments[i]))
                text.Line(Inline.Write(call.Arguments[i], "Arg" + i));
        }

        text.Close();
        text.Open("public override void ReadArguments(ref global::ActOp.Wire.WireReader reader)");
        for (var i = 0; i < call.Arguments.Length; i++)
        {
            if (IsSent(call, call.Arguments[i]))
                text.Line("Arg" + i + " = " + Inline.Read(call.Arguments[i]) + ";");
        }

        text.Close();
    }

    /// <summary>Arguments that nothing changes are the same if the objects are.</summary>
    private static void WriteComparison(SourceText text, CallModel call)
    {
        var same = Enumerable.Range(0, call.Arguments.Length).Select(
            static i => " && global::ActOp.Calls.CallArgument.IsSame(in Arg" + i + ", in same.Arg" + i + ")");
        text.Line("public override bool HasArgumentsOf(global::ActOp.Calls.Call other) => other is " + call.ClassName + call.TypeParameters
            + (call.Arguments.Length > 0 ? " same" : "") + string.Concat(same) + ";");
    }

    /// <summary>The argument is a token that the cancellation of the call replaces.</summary>
    private static bool IsCancelled(CallModel call, ArgumentModel argument) =>
        argument.IsToken && call.Return != ReturnKind.AsyncEnumerable;

    /// <summary>Enumerations are cancelled by the calls that fetch items.</summary>
    private static bool IsSent(CallModel call, ArgumentModel argument) =>
        !argument.IsToken || call.Return != ReturnKind.AsyncEnumerable;

    private static void WriteCancellation(SourceText text, CallModel call)
    {
        if (call.Return == ReturnKind.AsyncEnumerable)
        {
            text.Line("public override bool IsCancellable => true;");
            text.Line("public override global::System.Threading.CancellationToken GetCancellationToken() => Arg" + call.TokenIndex + ";");
            text.Line("public override void SetCancellationToken(global::System.Threading.CancellationToken token) => Arg" + call.TokenIndex
                + " = token;");
            return;
        }

        text.Line("private readonly global::ActOp.Calls.CallCancellation _cancellation;");
        text.Line("public " + call.ClassName + "() => _cancellation = new global::ActOp.Calls.CallCancellation(this);");
        text.Line("public override global::ActOp.Calls.CallCancellation Cancellation => _cancellation;");
        text.Line("public override bool IsCancellable => true;");
        text.Line("public override global::System.Threading.CancellationToken GetCancellationToken() => Arg" + call.TokenIndex + ";");
        text.Line("public override bool TryCancel() => _cancellation.TryCancel();");
    }

    private static void WriteRecycle(SourceText text, CallModel call, string self)
    {
        text.Open("public override void Recycle()");
        text.Line("if (!ResetForReuse())");
        text.Line("    return;");
        text.Line("_target = null;");
        for (var i = 0; i < call.Arguments.Length; i++)
            text.Line("Arg" + i + " = default;");
        text.Line("ResetResult();");
        if (call.TokenIndex >= 0)
            text.Line("_cancellation.Reset();");
        text.Line("global::ActOp.Calls.CallPool<" + self + ">.Return(this);");
        text.Close();
    }
}
