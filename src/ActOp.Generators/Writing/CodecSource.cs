using ActOp.Generators.Model;
using ActOp.Generators.Reading;

namespace ActOp.Generators.Writing;

/// <summary>Writes the codec of a type with [GenerateSerializer].</summary>
internal static class CodecSource
{
    private const string UnsafeAccessor =
        "[global::System.Runtime.CompilerServices.UnsafeAccessor(global::System.Runtime.CompilerServices.UnsafeAccessorKind.";

    private const string Writer = "ref global::ActOp.Wire.WireWriter writer";
    private const string Reader = "ref global::ActOp.Wire.WireReader reader";
    private const string Kind = "global::ActOp.Wire.WireKind.";
    private const string Items = "global::ActOp.Serialization.CollectionItems.";

    public static string Write(CodecModel model)
    {
        var text = new SourceText();
        text.Open("namespace ActOpGenerated");
        text.Line(SourceText.MayUseObsolete);
        text.Open(
            "internal sealed class " + model.ClassName + model.TypeParameters + " : global::ActOp.Serialization." +
                (model.IsStruct ? "StructCodec<" : "ClassCodec<") + model.Type + ">" + model.Constraints);
        for (var i = 0; i < model.Hooks.Length; i++)
        {
            if (!model.Hooks[i].NeedsServices)
                text.Line("private static readonly " + model.Hooks[i].Type + " Hook_" + i + " = new();");
        }

        if (model.Surrogate is { } surrogate)
            text.Line("private static readonly " + surrogate.Converter + " BaseConverter = new();");
        WriteTraits(text, model);
        WriteCreate(text, model);
        WriteMembers(text, model);
        ReadMembers(text, model);
        CopyMembers(text, model);
        foreach (var member in model.Groups.SelectMany(static g => g).Where(static m => !m.IsDirect || !m.IsSettable))
        {
            text.Line(UnsafeAccessor + "Field, Name = " + SourceText.Quote(member.Field) + ")]");
            text.Line(
                "private static extern ref " + member.Value.Type + " " + Field(member) + "(" + (model.IsStruct ? "ref " : "") + model.Type +
                    " value);");
        }

        text.Close().Close();
        return text.ToString();
    }

    /// <summary>The registration of the codec.</summary>
    public static string Registration(CodecModel model)
    {
        var names = "typeof(" + model.OpenType + "), " + SourceText.Quote(model.WireName);
        if (model.IsEnum)
            return "AddType(" + names + ");";
        var codec = "global::ActOpGenerated." + model.ClassName;
        return "AddCodec(" + names + ", " +
            (model.Arity == 0 ? "static () => new " + codec + "()" : "typeof(" + codec + "<" + new string(',', model.Arity - 1) + ">)") +
                ");";
    }

    private static void WriteTraits(SourceText text, CodecModel model)
    {
        if (!model.IsStruct && model.SuppressTracking)
            text.Line("protected override bool IsTracked => false;");
        if (!model.IsStruct && model.IsImmutable)
            text.Line("public override bool IsImmutable => true;");
        var conditions = model.Groups.SelectMany(static g => g).Where(static m => !m.Value.SkipCopy)
            .Select(static m => "global::ActOp.Wire.Codec<" + m.Value.Type + ">.Default.IsImmutable").Distinct().ToList();
        if (model.Base.Length > 0)
            conditions.Add("global::ActOp.Serialization.ClassCodec<" + model.Base + ">.Members.IsShareable");
        var isReadOnly = model.IsReadOnly && !model.HasHook(SerializationHooks.Copying, SerializationHooks.Copied);
        var immutable = model.IsImmutable || (isReadOnly && conditions.Count == 0) ? "true"
            : isReadOnly ? string.Join(" && ", conditions) : "false";
        text.Line("protected override bool AreMembersImmutable() => " + immutable + ";");
    }

    private static void WriteCreate(SourceText text, CodecModel model)
    {
        if (model.IsStruct && model.Creation is not ("new" or "activator"))
            return;
        var create = model switch
        {
            { Creation: "activator" } => "global::ActOp.Serialization.RegisteredActivator<" + model.Type + ">.Create()",
            { IsAbstract: true } =>
                "throw new global::Orleans.Serialization.SerializerException(\"The message has an object of the abstract type " +
                    model.WireName + ".\")",
            { IsStruct: true } => "default",
            { Creation: "services" } => "new " + model.Type + "(" + string.Join(", ",
                model.Services.Select(static s => "global::ActOp.Serialization.ConstructionServices.Get<" + s + ">()")) + ")",
            { Creation: "new" } => "new " + model.Type + "()",
            { Creation: "accessor" } => "New()",
            _ =>
                "(" + model.Type + ")global::System.Runtime.CompilerServices.RuntimeHelpers.GetUninitializedObject(typeof(" + model.Type +
                    "))",
        };
        text.Line("protected override " + model.Type + " Create() => " + create + ";");
        if (model.Creation == "services")
        {
            WriteScope(text, model.Type + " ReadBody(" + Reader + ", int at)", "reader.Session", "base.ReadBody(ref reader, at)");
            WriteScope(text, model.Type + " CopyBody(" + model.Type + " value, global::ActOp.Wire.CopyContext context)", "context",
                "base.CopyBody(value, context)");
        }

        if (model.Creation == "accessor" && !model.IsStruct)
        {
            text.Line(UnsafeAccessor + "Constructor)]");
            text.Line("private static extern " + model.Type + " New();");
        }
    }

    private static void WriteScope(SourceText text, string method, string of, string call)
    {
        text.Open("protected override " + method);
        text.Line("var before = global::ActOp.Serialization.ConstructionServices.Enter(" + of + ");");
        text.Open("try");
        text.Line("return " + call + ";");
        text.Close();
        text.Open("finally");
        text.Line("global::ActOp.Serialization.ConstructionServices.Leave(before);");
        text.Close().Close();
    }

    private static void WriteMembers(SourceText text, CodecModel model)
    {
        text.Open("public override void WriteMembers(" + Writer + ", " + Value(model) + ")");
        CallHooks(text, model, SerializationHooks.Serializing, "value");
        if (model.Base.Length > 0)
            text.Line("global::ActOp.Serialization.ClassCodec<" + model.Base + ">.Members.WriteMembers(ref writer, value);");
        if (model.Items is { } items)
        {
            if (items.Key.Length > 0)
                text.Line(Items + "WriteComparer<" + items.Key + ">(ref writer, " + Comparer(items, "value") + ");");
            text.Line(Items + "Write<" + items.Item + ">(ref writer, value);");
        }

        if (model.Surrogate is { } surrogate)
            text.Line(Codec(surrogate.Surrogate) + "Write(ref writer, " + Surrogate(surrogate, "value") + ");");
        if (model.OmitsDefaults)
            text.Line("uint before;");
        foreach (var group in model.Groups)
        {
            if (model.OmitsDefaults)
                WriteUnlessDefault(text, model, group);
            else
                WriteAll(text, model, group);
            text.Line("writer.WriteEnd();");
        }

        CallHooks(text, model, SerializationHooks.Serialized, "value");
        text.Close();
    }

    private static void WriteAll(SourceText text, CodecModel model, EquatableArray<MemberModel> members)
    {
        var before = 0L;
        foreach (var member in members)
        {
            text.Line(WriteMember(model, member, (member.Id + 1L - before) + "U"));
            before = member.Id + 1L;
        }
    }

    private static void WriteUnlessDefault(SourceText text, CodecModel model, EquatableArray<MemberModel> members)
    {
        text.Line("before = 0;");
        foreach (var member in members)
        {
            var value = Get(model, member, "value");
            text.Open(
                "if (!global::System.Collections.Generic.EqualityComparer<" + member.Value.Type + ">.Default.Equals(" + value
                    + ", default!))");
            text.Line(WriteMember(model, member, (member.Id + 1L) + "U - before"));
            text.Line("before = " + (member.Id + 1L) + "U;");
            text.Close();
        }
    }

    private static void CallHooks(SourceText text, CodecModel model, string method, string value, string original = "")
    {
        for (var i = 0; i < model.Hooks.Length; i++)
        {
            var hook = model.Hooks[i].NeedsServices
                ? "global::ActOp.Serialization.ServiceHook<" + model.Hooks[i].Type + ">.Of(" + Owner(method) + ")"
                : "Hook_" + i;
            foreach (var found in model.Hooks[i].Methods.Where(found => found == method || found == "ref " + method))
                text.Line(hook + "." + method + "(" + original + (found == method ? "" : "ref ") + value + ");");
        }
    }

    /// <summary>What knows whose the message or the copy is.</summary>
    private static string Owner(string method) => method switch
    {
        SerializationHooks.Serializing or SerializationHooks.Serialized => "writer.Session",
        SerializationHooks.Deserializing or SerializationHooks.Deserialized => "reader.Session",
        _ => "context",
    };

    private static string WriteMember(CodecModel model, MemberModel member, string delta)
    {
        var value = Get(model, member, "value");
        return member.Value.Primitive switch
        {
            "Boolean" or "Byte" or "Int32" or "UInt32" or "Int64" or "UInt64" =>
                "writer.WriteTag(" + delta + ", " + Kind + "Varint); "
                    + (member.Value.Primitive == "Byte" ? "writer.WriteVarUInt32(" + value + ");" : Inline.Write(member.Value, value)),
            "Double" => "writer.WriteTag(" + delta + ", " + Kind + "Fixed64); " + Inline.Write(member.Value, value),
            _ => "global::ActOp.Wire.Codec<" + member.Value.Type + ">.Default.WriteMember(ref writer, " + delta + ", " + value + ");",
        };
    }

    private static void ReadMembers(SourceText text, CodecModel model)
    {
        text.Open("public override void ReadMembers(" + Reader + ", " + Value(model) + ")");
        CallHooks(text, model, SerializationHooks.Deserializing, "value");
        if (model.Base.Length > 0)
            text.Line("global::ActOp.Serialization.ClassCodec<" + model.Base + ">.Members.ReadMembers(ref reader, value);");
        if (model.Items is { } items)
        {
            if (items.Key.Length > 0)
                text.Line(Items + "ReadComparer<" + items.Key + ">(ref reader, value, " + Comparer(items, "value") + ");");
            text.Line(Items + "Read<" + items.Item + ">(ref reader, value);");
        }

        if (model.Surrogate is { } surrogate)
            text.Line(Populate(surrogate, "value", Codec(surrogate.Surrogate) + "Read(ref reader)"));
        text.Line("uint id;");
        foreach (var group in model.Groups)
        {
            text.Line("id = 0;");
            text.Open("while (reader.ReadTag(ref id, out var kind))");
            text.Open("switch (id)");
            foreach (var member in group)
                text.Line("case " + (member.Id + 1L) + "U: " + Set(model, member, "value") + " = " + ReadMember(member) + "; break;");
            text.Line("default: reader.Skip(kind); break;");
            text.Close().Close();
        }

        CallHooks(text, model, SerializationHooks.Deserialized, "value");
        text.Close();
    }

    private static string ReadMember(MemberModel member)
    {
        var codec = "global::ActOp.Wire.Codec<" + member.Value.Type + ">.Default.ReadMember(ref reader, kind)";
        var inline = member.Value.Primitive switch
        {
            "UInt32" => "checked((uint)reader.ReadVarUInt64())",
            "Int32" => "checked((int)reader.ReadVarInt64())",
            "Int64" or "UInt64" => Inline.Read(member.Value),
            _ => null,
        };
        return inline is null ? codec : "kind == " + Kind + "Varint ? " + inline + " : " + codec;
    }

    private static void CopyMembers(SourceText text, CodecModel model)
    {
        const string context = "global::ActOp.Wire.CopyContext context)";
        text.Open(
            "public override void CopyMembers(" +
                (model.IsStruct ? "ref " + model.Type + " value, " : model.Type + " from, " + model.Type + " to, ") + context);
        var (original, copy) = model.IsStruct ? ("original, ", "value") : ("from, ", "to");
        if (model.IsStruct && model.HasHook(SerializationHooks.Copying, SerializationHooks.Copied))
            text.Line("var original = value;");
        CallHooks(text, model, SerializationHooks.Copying, copy, original);
        if (model.Base.Length > 0)
            text.Line("global::ActOp.Serialization.ClassCodec<" + model.Base + ">.Members.CopyMembers(from, to, context);");
        if (model.Items is { } items)
        {
            if (items.Key.Length > 0)
                text.Line(Items + "CopyComparer<" + items.Key + ">(" + Comparer(items, "from") + ", to, " + Comparer(items, "to") + ");");
            text.Line(Items + "Copy<" + items.Item + ">(from, to, context);");
        }

        if (model.Surrogate is { } surrogate)
            text.Line(Populate(surrogate, "to", Codec(surrogate.Surrogate) + "Copy(" + Surrogate(surrogate, "from") + ", context)"));
        foreach (var member in model.Groups.SelectMany(static g => g))
        {
            var from = Get(model, member, model.IsStruct ? "value" : "from");
            var to = Set(model, member, model.IsStruct ? "value" : "to");
            if (!member.Value.SkipCopy)
                text.Line(to + " = global::ActOp.Wire.Codec<" + member.Value.Type + ">.Default.Copy(" + from + ", context);");
            else if (!model.IsStruct)
                text.Line(to + " = " + from + ";");
        }

        CallHooks(text, model, SerializationHooks.Copied, copy, original);
        text.Close();
    }

    private static string Codec(string type) => "global::ActOp.Wire.Codec<" + type + ">.Default.";

    private static string Surrogate(SurrogateModel model, string value) =>
        Converter(model, "IConverter") + ".ConvertToSurrogate((" + model.Base + ")" + value + ")";

    private static string Populate(SurrogateModel model, string value, string surrogate) =>
        Converter(model, "IPopulator") + ".Populate(" + surrogate + ", " + value + ");";

    private static string Converter(SurrogateModel model, string kind) =>
        "((global::Orleans." + kind + "<" + model.Base + ", " + model.Surrogate + ">)BaseConverter)";

    private static string Get(CodecModel model, MemberModel member, string owner) =>
        member.IsDirect ? owner + ".@" + member.Name : Accessor(model, member, owner);

    private static string Set(CodecModel model, MemberModel member, string owner) =>
        member.IsSettable ? owner + ".@" + member.Name : Accessor(model, member, owner);

    private static string Accessor(CodecModel model, MemberModel member, string owner) =>
        Field(member) + "(" + (model.IsStruct ? "ref " : "") + owner + ")";

    /// <summary>The name of the accessor; a property that implements an interface explicitly has dots in its name.</summary>
    private static string Field(MemberModel member) => "Field_" + Reading.TypeText.Mangle(member.Name);

    private static string Comparer(ItemsModel items, string owner) => "((" + items.Collection + ")" + owner + ").Comparer";

    private static string Value(CodecModel model) => (model.IsStruct ? "ref " : "") + model.Type + " value";
}
