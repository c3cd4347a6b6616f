using ActOp.Generators.Model;

namespace ActOp.Generators.Writing;

/// <summary>Writes the reference class of a grain interface.</summary>
internal static class ReferenceSource
{
    public static string Write(InterfaceModel model)
    {
        var text = new SourceText();
        text.Open("namespace ActOpGenerated");
        foreach (var call in model.Calls)
            CallSource.Write(text, call);
        text.Line("[global::System.ComponentModel.EditorBrowsable(global::System.ComponentModel.EditorBrowsableState.Never)]");
        text.Line(SourceText.MayUseObsolete);
        text.Open(
            model.Accessibility + " sealed class " + model.ReferenceClass + model.TypeParameters +
                " : " + model.Proxy.Base + ", " + model.InterfaceType + model.Constraints);
        WriteConstructors(text, model);
        foreach (var method in model.Methods)
            WriteMethod(text, model, method);
        text.Close().Close();
        return text.ToString();
    }

    private static void WriteConstructors(SourceText text, InterfaceModel model)
    {
        if (model.Proxy.IsReference)
        {
            text.Open("public " + model.ReferenceClass +
                "(global::Orleans.Runtime.GrainReferenceShared shared, global::Orleans.Runtime.IdSpan key) : base(shared, key)").Close();
            return;
        }

        foreach (var constructor in model.Proxy.Constructors)
        {
            var types = constructor.Length == 0 ? [] : constructor.Split('|');
            text.Open("public " + model.ReferenceClass + "(" + string.Join(", ", types.Select(static (type, i) => type + " arg" + i))
                + ") : base(" + string.Join(", ", types.Select(static (_, i) => "arg" + i)) + ")").Close();
        }
    }

    private static void WriteMethod(SourceText text, InterfaceModel model, ReferenceMethodModel method)
    {
        var parameters = string.Join(", ", method.ArgumentTypes.Select(static (type, i) => type + " arg" + i));
        text.Open(
            method.ReturnType + " " + method.Interface + "." + CallSource.Escape(method.Name) + method.TypeParameters + "(" + parameters +
                ")");
        if (method.CustomSend.Length > 0)
        {
            text.Line("var call = " + (method.AsksBase
                ? "base.GetInvokable<" + method.CallType + ">();"
                : method.CallType + ".New(" + (model.Proxy.IsReference ? "global::ActOp.Calls.CustomCall.ServicesOf(this)" : "null")
                + ");"));
        }
        else
        {
            text.Line(method.Return == ReturnKind.AsyncEnumerable
                ? "var call = new " + method.CallType + "();"
                : "var call = global::ActOp.Calls.CallPool<" + method.CallType + ">.Rent();");
        }

        for (var i = 0; i < method.ArgumentTypes.Length; i++)
        {
            text.Line("call.Arg" + i + " = arg" + i + ";");
            if (ArgumentModel.IsGrainTokenType(method.ArgumentTypes[i]))
                text.Line("global::Orleans.GrainCancellationToken.PassTo(arg" + i + ", this);");
        }

        text.Line(Send(method));
        text.Close();
    }

    private static string Send(ReferenceMethodModel method)
    {
        if (method.CustomSend.Length > 0)
            return method.CustomSend;
        if (method.Return == ReturnKind.Void)
            return "call.SendVoid(this);";
        if (method.OneWay)
        {
            return "call.SendVoid(this); return " + method.Return switch
            {
                ReturnKind.Task => "global::System.Threading.Tasks.Task.CompletedTask;",
                ReturnKind.TaskOf => "global::System.Threading.Tasks.Task.FromResult<" + method.ResultType + ">(default);",
                _ => "default;",
            };
        }

        return method.Return switch
        {
            ReturnKind.ValueTask => "return call.SendPlainValue(this);",
            ReturnKind.AsyncEnumerable => "return call.InitializeRequest(this);",
            ReturnKind.ValueTaskOf => "return call.SendValue(this);",
            _ => "return call.SendTask(this);",
        };
    }
}
